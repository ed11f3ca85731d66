-- A wish that its callback has not confirmed is counted apart from subscriptions: by the client
-- that sent it, by the domain of the callback, and by time. Pushes do not wait for it.
alter table hub_subscriptions add column callback_domain text;
alter table hub_subscriptions add column wish_from text;        -- until the callback confirms
alter table hub_subscriptions add column wished_at bigint;
alter table hub_subscriptions add column wish_attempts bigint not null default 0;
alter table hub_subscriptions add column wish_next_at bigint;   -- null: at once
create index hub_subscriptions_by_wish on hub_subscriptions (wished_at) where wished_at is not null;
-- Nobody counted the wishes of before. Subscribers whose wish was not confirmed repeat it.
delete from hub_subscriptions where lease_until is null;
update hub_subscriptions set wish = null, wish_secret = null;

-- What a hub sent within the current window of time, so that it can be limited; and whether
-- something was refused since the feed was last looked at.
alter table push_subscriptions add column window_at bigint;
alter table push_subscriptions add column window_n bigint not null default 0;
alter table push_subscriptions add column window_bytes bigint not null default 0;
alter table push_subscriptions add column refused_at bigint;
