-- Counts and orders that pages show are kept as they change: with a million feeds a walk over all
-- of them takes seconds.

-- 0 active, 1 never polled, 2 backing off, 3 damaged, 4 gone, 5 paused.
alter table feed_state add column state smallint not null default 1;
-- Thousandths of a poll a day, as far as the present interval goes; 0 while it is not polled.
alter table feed_state add column load bigint not null default 0;
alter table feed_state add column sort_title text not null default '';
-- Sums over the feeds that are polled at the domain.
alter table domains add column feeds bigint not null default 0;
alter table domains add column load bigint not null default 0;

update feed_state set
  state = case when gone_at is not null then 4
    when coalesce(paused, exists (select 1 from feed_tags t join tag_settings g on g.tag = t.tag
      where t.feed = feed_state.feed and g.paused = 1)) = 1 then 5
    when failures > 0 and last_outcome = 'damaged' then 3
    when failures > 0 then 2
    when last_poll_at is null then 1
    else 0 end,
  sort_title = (select lower(substr(coalesce(nullif(trim(f.given_title), ''),
      nullif(trim(f.title), ''), f.url), 1, 80)) from feeds f where f.id = feed_state.feed);
update feed_state set load = 86400000000 / (next_at - last_poll_at)
  where state not in (4, 5) and next_at > last_poll_at;
update domains set feeds = s.feeds, load = s.load
  from (select domain, count(*) as feeds, sum(load) as load from feed_state group by domain) as s
  where s.domain = domains.id;

create table totals (
  name text primary key,
  n bigint not null
) without rowid;
insert into totals (name, n)
  select 'feeds 0', count(*) from feed_state where state = 0
  union all select 'feeds 1', count(*) from feed_state where state = 1
  union all select 'feeds 2', count(*) from feed_state where state = 2
  union all select 'feeds 3', count(*) from feed_state where state = 3
  union all select 'feeds 4', count(*) from feed_state where state = 4
  union all select 'feeds 5', count(*) from feed_state where state = 5
  union all select 'never polled', count(*) from feed_state where last_poll_at is null
  union all select 'entries', coalesce(sum(entries), 0) from feed_state
  union all select 'polls', coalesce(sum(generation), 0) from feed_state;

-- The orders of the list of feeds, each within one state.
create index feed_state_by_next on feed_state (state, coalesce(next_at, 0));
create index feed_state_by_last on feed_state (state, coalesce(last_poll_at, 0));
create index feed_state_by_change on feed_state (state, coalesce(last_change_at, 0));
create index feed_state_by_entries on feed_state (state, entries);
create index feed_state_by_failures on feed_state (state, failures);
create index feed_state_by_title on feed_state (state, sort_title);
create index feed_state_failing on feed_state (state, last_success_at) where state in (2, 3);
create index domains_by_load on domains (load, feeds);
create index domains_held on domains (not_before) where not_before is not null;
