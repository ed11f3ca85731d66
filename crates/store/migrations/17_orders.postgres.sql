-- Every poll changes a row of feed_state. PostgreSQL then writes an entry into each of its indexes,
-- also into those whose columns are the same as before. So orders that few polls change get a table
-- of their own, which a trigger fills.
create table feed_orders (
  feed bigint primary key references feed_state (feed) on delete cascade,
  state smallint not null,
  last_change_at bigint,
  entries bigint not null,
  failures bigint not null,
  sort_title text collate "C" not null,
  last_success_at bigint           -- null unless the feed is failing
) with (fillfactor = 90);

insert into feed_orders
  (feed, state, last_change_at, entries, failures, sort_title, last_success_at)
  select feed, state, last_change_at, entries, failures, sort_title,
    case when state in (2, 3) then last_success_at end
  from feed_state;

create or replace function keep_feed_orders() returns trigger
language plpgsql set search_path from current as $$
begin
  if tg_op = 'INSERT' then
    insert into feed_orders
      (feed, state, last_change_at, entries, failures, sort_title, last_success_at)
    values (new.feed, new.state, new.last_change_at, new.entries, new.failures, new.sort_title,
      case when new.state in (2, 3) then new.last_success_at end);
  else
    update feed_orders set state = new.state, last_change_at = new.last_change_at,
      entries = new.entries, failures = new.failures, sort_title = new.sort_title,
      last_success_at = case when new.state in (2, 3) then new.last_success_at end
    where feed = new.feed;
  end if;
  return null;
end
$$;
create trigger feed_orders_new after insert on feed_state
  for each row execute function keep_feed_orders();
create trigger feed_orders_changed after update on feed_state
  for each row when (
    old.state is distinct from new.state
    or old.last_change_at is distinct from new.last_change_at
    or old.entries is distinct from new.entries
    or old.failures is distinct from new.failures
    or old.sort_title is distinct from new.sort_title
    or (new.state in (2, 3) and old.last_success_at is distinct from new.last_success_at)
  ) execute function keep_feed_orders();

-- Many feeds have the same time; the number of the feed makes their order part of the index.
drop index feed_state_by_next;
drop index feed_state_by_last;
create index feed_state_by_next on feed_state (state, coalesce(next_at, 0), feed);
create index feed_state_by_last on feed_state (state, coalesce(last_poll_at, 0), feed);

drop index feed_state_by_change;
drop index feed_state_by_entries;
drop index feed_state_by_failures;
drop index feed_state_by_title;
drop index feed_state_failing;
-- Nothing finds feeds by their domain one at a time.
drop index feed_state_by_domain;
create index feed_orders_by_change on feed_orders (state, coalesce(last_change_at, 0), feed);
create index feed_orders_by_entries on feed_orders (state, entries, feed);
create index feed_orders_by_failures on feed_orders (state, failures, feed);
create index feed_orders_by_title on feed_orders (state, sort_title, feed);
create index feed_orders_failing on feed_orders (state, last_success_at) where state in (2, 3);

-- The index of words gets a word for the block of each entry. The engine builds it again.
delete from search;
delete from search_stale;
update search_progress set indexed_to = 0;
