-- Subscriptions of accounts. Without accounts, the person at this machine reads every feed, and
-- their tags are in feed_tags. With accounts, feed_tags only choose the settings of feeds.
create table subscriptions (
  account bigint not null references accounts (id) on delete cascade,
  feed bigint not null references feeds (id) on delete cascade,
  title text,                      -- null: the publisher's
  position bigint not null default 0,
  subscribed_at bigint not null,
  primary key (account, feed)
) without rowid;
create index subscriptions_by_feed on subscriptions (feed, account);

-- The tags of an account, with the numbers by which reader apps know them. A renamed tag keeps its
-- number, and none is given twice.
create table account_tags (
  account bigint not null references accounts (id) on delete cascade,
  number bigint not null,
  tag text not null,
  made smallint not null default 0, -- 1: an app made it, so it stays while no feed bears it
  position bigint not null default 0,
  primary key (account, number),
  unique (account, tag)
) without rowid;
create table subscription_tags (
  account bigint not null,
  tag bigint not null,
  feed bigint not null,
  primary key (account, tag, feed),
  foreign key (account, tag) references account_tags (account, number) on delete cascade,
  foreign key (account, feed) references subscriptions (account, feed) on delete cascade
) without rowid;
create index subscription_tags_by_feed on subscription_tags (account, feed);
alter table accounts add column last_tag bigint not null default 1;
alter table accounts add column read_at bigint;        -- when they last read something, to the day

-- Feeds whose address or settings hold a secret. Their row in feeds has `#` and the owner behind
-- the address, so that two people may have the same address.
create table private_feeds (
  feed integer primary key references feeds (id) on delete cascade,
  owner bigint not null,           -- an account; 0: the instance
  url text not null,
  unique (owner, url)
);
create index private_feeds_by_url on private_feeds (url);

-- 1: it stays until it is removed. 0: it stays while somebody subscribes to it or a query reads it.
alter table feeds add column of_instance smallint not null default 1;
create index feeds_of_people on feeds (id) where of_instance = 0;
-- Subscribers who have read something lately, as counted last; null: not counted yet.
alter table feeds add column readers bigint;
-- Since when nobody needs the feed, and whether it was paused by a setting before.
alter table query_orphans add column since bigint;
alter table query_orphans add column was_paused smallint not null default 0;

-- The account that made a query; null: the instance.
alter table queries add column owner bigint references accounts (id);
alter table queries add column shared smallint not null default 0;
-- 1: its account was removed. The process that records drops it soon.
alter table queries add column abandoned smallint not null default 0;
create index queries_by_owner on queries (owner) where owner is not null;

-- The rows of stores with accounts are made when the store is opened (`feeds::takeover`), because
-- the program must find the secrets in addresses.
insert into settings (key, value) select 'subscriptions', 'pending'
  where exists (select 1 from accounts)
  or exists (select 1 from feed_tags where tag like 'query:%');
