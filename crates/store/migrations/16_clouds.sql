-- Our subscriptions at rssClouds. A cloud only says that a feed has changed; the poll follows.
create table cloud_subscriptions (
  feed integer primary key references feeds (id) on delete cascade,
  token text not null unique,      -- the end of the callback's path, which nobody guesses
  cloud text not null,             -- as the document names it
  topic text not null,             -- the address of the feed, as the cloud knows it
  asked_at bigint,                 -- a request waits for the cloud's first call
  lease_until bigint,              -- null: the cloud has not called
  attempts bigint not null default 0,
  next_at bigint not null,         -- when the cloud is asked next
  error text,
  noticed_at bigint,               -- a notice that no poll has followed yet
  n_notices bigint not null default 0
);
create index cloud_subscriptions_by_next on cloud_subscriptions (next_at);
create index cloud_subscriptions_noticed on cloud_subscriptions (feed) where noticed_at is not null;

-- How a subscriber of our hub is verified and told: 0 WebSub, 1 rssCloud with a challenge,
-- 2 rssCloud with a first notice.
alter table hub_subscriptions add column protocol smallint not null default 0;
