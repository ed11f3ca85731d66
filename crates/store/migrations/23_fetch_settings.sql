-- How a feed is fetched where its site needs more than a plain request, where people send entries,
-- and the marks of people who move here from another reader.

-- One row for each setting. Secret values are encrypted with the key file of the instance and bound
-- to the origin and the name. A setting is used for requests to its origin only.
create table fetch_settings (
  feed bigint not null references feeds (id) on delete cascade,
  name text not null,              -- header NAME, cookie, user-agent, login, proxy or insecure-tls
  origin text not null,
  shown text,                      -- the value without its secrets; null: all of it is secret
  sealed blob,                     -- null: the value has no secret
  changed_at bigint not null,
  primary key (feed, name)
) without rowid;

-- Services to which a person sends entries.
create table share_targets (
  account bigint not null,
  position bigint not null,
  name text not null,
  kind text not null,              -- link or webhook
  template text not null,
  signing_key text not null,       -- of a webhook
  primary key (account, position)
) without rowid;

-- Marks from another reader that wait for their entry.
create table pending_marks (
  id integer primary key autoincrement,
  account bigint not null,
  feed bigint not null references feeds (id) on delete cascade,
  link text,
  guid text,
  title text,
  is_read smallint not null,
  starred_at bigint,               -- null: no star
  added_at bigint not null
);
create index pending_marks_by_feed on pending_marks (feed, account);

-- How far a person has come with moving here.
create table move_ins (
  account bigint not null,
  source text not null,            -- the kind and the address of the other reader
  state text not null,             -- JSON
  changed_at bigint not null,
  primary key (account, source)
) without rowid;
