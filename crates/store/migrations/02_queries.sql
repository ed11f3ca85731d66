-- Standing queries. A query keeps its number and its positions when it is replaced.
create table queries (
  id integer primary key autoincrement,
  name text not null unique,
  text text not null,              -- the statement as it was written
  created_at bigint not null,
  changed_at bigint not null,
  last_position bigint not null default 0,
  link_key text not null,          -- what the secret link holds
  signing_key text not null        -- signs its webhooks where the statement names no other key
);

-- The matches of each query, in its own order: the outbox of every delivery.
create table query_entries (
  query bigint not null references queries (id) on delete cascade,
  position bigint not null,
  entry bigint not null references entries (id) on delete cascade,
  partner bigint,                  -- what it was joined with
  primary key (query, position)
) without rowid;
create index query_entries_by_entry on query_entries (entry, query);

-- The state that queries remember; only they read the bytes.
create table query_states (
  query bigint not null references queries (id) on delete cascade,
  number bigint not null,
  bytes blob not null,
  primary key (query, number)
) without rowid;

-- The feeds that a query names by their address.
create table query_feeds (
  query bigint not null references queries (id) on delete cascade,
  feed bigint not null references feeds (id) on delete cascade,
  primary key (query, feed)
) without rowid;
create index query_feeds_by_feed on query_feeds (feed);

-- Feeds that were polled for queries only. They are paused since the last such query was dropped.
create table query_orphans (
  feed integer primary key references feeds (id) on delete cascade
);

-- One receiver of one query. Everything up to `position` was handed over or is a dead letter.
create table deliveries (
  id integer primary key autoincrement,
  query bigint not null references queries (id) on delete cascade,
  receiver text not null,
  position bigint not null,
  attempts bigint not null default 0,
  next_at bigint,                  -- null: at once
  delivered_at bigint,
  error text,
  unique (query, receiver)
);

-- Matches that a receiver did not accept.
create table dead_letters (
  delivery bigint not null references deliveries (id) on delete cascade,
  position bigint not null,
  entry bigint not null,
  at bigint not null,
  attempts bigint not null,
  error text not null,
  replay smallint not null default 0,
  primary key (delivery, position)
) without rowid;

-- Entries seen and relevant entries of each feed. Both numbers decay.
create table feed_relevance (
  feed integer primary key references feeds (id) on delete cascade,
  seen double precision not null,
  kept double precision not null
);

-- Judgements of consumers about entries.
create table relevance (
  entry integer primary key references entries (id) on delete cascade,
  relevant smallint not null,
  at bigint not null
);

-- Subscribers of published feeds (WebSub). A request takes effect when the callback has agreed.
create table hub_subscriptions (
  id integer primary key autoincrement,
  query bigint not null references queries (id) on delete cascade,
  topic text not null,
  callback text not null,
  secret text,
  lease_until bigint,              -- null: not agreed to yet
  wish text,                       -- subscribe or unsubscribe
  wish_secret text,
  wish_lease_ms bigint,
  position bigint not null,
  attempts bigint not null default 0,
  next_at bigint,                  -- null: at once
  unique (topic, callback)
);
create index hub_subscriptions_by_query on hub_subscriptions (query);
