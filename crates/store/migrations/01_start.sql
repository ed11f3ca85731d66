-- Times are milliseconds since 1970 in UTC. Texts are as the publisher wrote them.

-- Pace is kept here too: when a domain was asked last and until when it wants to be left alone.
create table domains (
  id integer primary key autoincrement,
  name text not null unique,
  last_request_at bigint,
  not_before bigint,
  reason text
);

-- The identity and the settings of a feed, which rarely change.
create table feeds (
  id integer primary key autoincrement,
  url text not null unique,
  effective_url text,              -- null: the same as url
  given_title text,                -- by whoever added it
  title text,                      -- by the publisher, as are the next three
  site text,
  language text,
  hub text,
  hints text,                      -- JSON, null: none
  added_at bigint not null,
  policy text,
  alpha_ms bigint,
  beta_ms bigint,
  weight double precision,
  max_delay_ms bigint
);
create index feeds_by_effective_url on feeds (effective_url) where effective_url is not null;

create table feed_tags (
  feed bigint not null references feeds (id) on delete cascade,
  tag text not null,
  primary key (feed, tag)
) without rowid;
create index feed_tags_by_tag on feed_tags (tag, feed);

create table tag_settings (
  tag text primary key,
  policy text,
  alpha_ms bigint,
  beta_ms bigint,
  weight double precision,
  max_delay_ms bigint,
  paused smallint
) without rowid;

-- Every poll rewrites these rows, so they are small. The due index is read from them.
create table feed_state (
  feed integer primary key references feeds (id) on delete cascade,
  domain bigint not null references domains (id),
  paused smallint,                 -- null: as its tags say
  generation bigint not null default 0,
  entries bigint not null default 0,
  next_at bigint,                  -- null: never polled, due at once
  wanted_at bigint,
  last_poll_at bigint,
  last_outcome text,
  last_success_at bigint,
  last_change_at bigint,
  failures bigint not null default 0,
  gone_at bigint,
  moved_count bigint not null default 0,
  body_hash blob,
  etag blob,
  last_modified blob,
  error text,
  gone_reason text,
  moved_to text,
  reason text,                     -- why it is polled next when it is, in words
  cause text,                      -- the same in short; becomes the reason of that poll
  held text
);
create index feed_state_by_domain on feed_state (domain);

-- Written only when it changed.
create table feed_window (
  feed integer primary key references feeds (id) on delete cascade,
  shown blob not null,
  learned blob not null
);

-- The id is the position in the stream.
create table entries (
  id integer primary key autoincrement,
  feed bigint not null references feeds (id) on delete cascade,
  key blob not null,
  guid text,
  title text,
  link text,
  author text,
  summary text,
  content text,
  categories text,                 -- JSON, null: none; likewise enclosures
  enclosures text,
  published_claim bigint,
  published_at bigint not null,
  updated_at bigint,
  seen_at bigint not null,
  edited_at bigint,                -- when we saw the present text, if it is not the first
  content_hash bigint not null
);
create index entries_by_feed on entries (feed, id);

-- Keys outlive the entries: an entry that comes back after its text was deleted is not new.
create table entry_keys (
  feed bigint not null references feeds (id) on delete cascade,
  key blob not null,
  entry bigint not null,
  content_hash bigint not null,
  published_at bigint not null,
  seen_at bigint not null,
  left_window_at bigint,           -- null: the window shows it
  primary key (feed, key)
) without rowid;

-- Texts of entries before an edit; n counts from 1, the oldest.
create table revisions (
  entry bigint not null references entries (id) on delete cascade,
  n bigint not null,
  seen_at bigint not null,
  title text,
  link text,
  author text,
  summary text,
  content text,
  content_hash bigint not null,
  primary key (entry, n)
) without rowid;

create table polls (
  feed bigint not null references feeds (id) on delete cascade,
  generation bigint not null,
  at bigint not null,
  outcome text not null,
  status bigint,
  n_new bigint not null,
  window_len bigint not null,
  overlap bigint not null,
  suspected_miss smallint not null,
  bytes bigint not null,
  elapsed_ms bigint not null,
  wanted_at bigint,
  next_at bigint,
  reason text,
  held text,
  error text,
  primary key (feed, generation)
) without rowid;

-- Polls that are no longer kept one by one; day counts from 1970-01-01 in UTC.
create table poll_days (
  feed bigint not null references feeds (id) on delete cascade,
  day bigint not null,
  polls bigint not null,
  unchanged bigint not null,
  failed bigint not null,
  n_new bigint not null,
  misses bigint not null,
  bytes bigint not null,
  primary key (feed, day)
) without rowid;

-- Commands left for the daemon.
create table requests (
  id integer primary key autoincrement,
  kind text not null,
  body text not null,
  created_at bigint not null,
  answer text,
  ok smallint,
  answered_at bigint
);
create index requests_unanswered on requests (id) where answered_at is null;

create table settings (
  key text primary key,
  value text not null
) without rowid;
