-- Moves all numbers on after a restored dump or a fail-over that lost commits. Run it once, while
-- no Tidings process uses the database:
--   psql --single-transaction --file=operating/postgres-leap.sql DATABASE
-- `tidings restore` does the same for SQLite. Readers may hold numbers of lost entries as cursors,
-- so these numbers must not be given again.
\set ON_ERROR_STOP on

-- Entries. The gap is noted, so that it does not count as unread.
update stream set last_entry = last_entry + 10000000;
insert into entry_gaps (first, last)
  select last_entry - 10000000 + 1, last_entry from stream;

-- Positions of queries. Receivers that were up to date move along.
update deliveries set position = position + 10000000
  where position = (select q.last_position from queries q where q.id = deliveries.query);
update hub_subscriptions set position = position + 10000000
  where position = (select q.last_position from queries q where q.id = hub_subscriptions.query);
update queries set last_position = last_position + 10000000;

-- Numbers that apps and scripts store.
select setval(pg_get_serial_sequence('feeds', 'id'),
  coalesce(pg_sequence_last_value(pg_get_serial_sequence('feeds', 'id')::regclass), 0) + 100000);
select setval(pg_get_serial_sequence('tag_numbers', 'id'),
  coalesce(pg_sequence_last_value(pg_get_serial_sequence('tag_numbers', 'id')::regclass), 1) + 1000);
select setval(pg_get_serial_sequence('queries', 'id'),
  coalesce(pg_sequence_last_value(pg_get_serial_sequence('queries', 'id')::regclass), 0) + 1000);
-- The tags of accounts have numbers of their own.
update accounts set last_tag = last_tag + 1000;

-- The process that records begins the next epoch at its start. Numbers of its grants contain it.
update seat set epoch = epoch + 1000;
update stream set epoch = (select epoch from seat);
