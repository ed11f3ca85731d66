-- People. Feeds, tags and queries belong to the instance; what is here belongs to one account.
-- Account 0 is the person at this machine while there are no accounts; it has no row.
create table accounts (
  id integer primary key autoincrement,
  name text not null unique,       -- lower case
  password text not null,          -- argon2id, as a PHC string
  created_at bigint not null
);

-- Only digests of secrets are stored: a reader of this file cannot log in.
create table sessions (
  digest blob primary key,
  account bigint not null references accounts (id) on delete cascade,
  created_at bigint not null,
  expires_at bigint not null
) without rowid;
create index sessions_by_account on sessions (account);

create table tokens (
  id integer primary key autoincrement,
  account bigint not null references accounts (id) on delete cascade,
  name text not null,
  scope text not null,             -- read, write or admin
  digest blob not null unique,
  fever_digest blob not null unique, -- of what Fever's clients send: md5(name:token)
  created_at bigint not null,
  used_at bigint,                  -- to the day
  unique (account, name)
);

-- The read marks of an account: one bit for each entry, 4096 of them in a row, by the entry's number.
-- Account -1 stands for entries that are no longer kept, which count as read for everybody.
create table read_marks (
  account bigint not null,
  block bigint not null,
  bits blob not null,
  primary key (account, block)
) without rowid;

create table stars (
  account bigint not null,
  entry bigint not null references entries (id) on delete cascade,
  starred_at bigint not null,
  primary key (account, entry)
) without rowid;
create index stars_by_entry on stars (entry);

-- The order in which people read: newest first, by repaired times.
create index entries_newest on entries (published_at, id, feed);
create index entries_of_feed_newest on entries (feed, published_at, id);
create index query_entries_newest on query_entries (query, entry);

-- Full text, filled behind the polls. The words come folded; the texts themselves stay in entries.
create virtual table search using fts5 (
  title, body, content='', contentless_delete=1, detail=full, tokenize='ascii'
);
create table search_progress (
  only_row integer primary key check (only_row = 1),
  indexed_to bigint not null
);
insert into search_progress (only_row, indexed_to) values (1, 0);
-- Entries whose text changed after they were indexed.
create table search_stale (entry integer primary key);

-- Numbers that no entry has: those of a restored store leap (see backup).
create table entry_gaps (first bigint primary key, last bigint not null);
insert into entry_gaps (first, last)
  select before + 1, id - 1
  from (select id, lag(id, 1, 0) over (order by id) as before from entries) as numbered
  where id > before + 1;
insert into entry_gaps (first, last)
  select highest + 1, seq
  from (select seq, (select coalesce(max(id), 0) from entries) as highest
        from sqlite_sequence where name = 'entries') as given
  where seq > highest;
