-- The hub that a document names (WebSub), and its rssCloud, which is only reported.
alter table feeds add column topic text;   -- under which address the hub knows it
alter table feeds add column cloud text;
create index feeds_by_hub on feeds (id) where hub is not null;

-- Our subscriptions at other hubs. A row without a feed is to be cancelled.
create table push_subscriptions (
  id integer primary key autoincrement,
  feed bigint unique references feeds (id) on delete set null,
  token text not null unique,      -- the end of the callback's path, which nobody guesses
  secret text not null,            -- signs what the hub sends
  hub text not null,
  topic text not null,
  asked_at bigint,                 -- a request waits for the hub's verification
  lease_until bigint,              -- null: the hub does not push
  attempts bigint not null default 0,
  next_at bigint not null,         -- when the hub is asked next
  error text,
  pushed_at bigint,                -- the last push that was taken
  n_pushes bigint not null default 0,
  n_proofs bigint not null default 0,  -- pushes since a poll last found what none had brought
  n_misses bigint not null default 0   -- how often a poll did while pushes were trusted
);
create index push_subscriptions_by_next on push_subscriptions (next_at);
create index push_subscriptions_left on push_subscriptions (id) where feed is null;

-- Pushes of hubs that are not recorded yet.
create table push_inbox (
  id integer primary key autoincrement,
  subscription bigint not null references push_subscriptions (id) on delete cascade,
  at bigint not null,
  content_type text,
  signature text,
  body blob not null
);
create index push_inbox_by_subscription on push_inbox (subscription);
