-- Whether a receiver has something to get: matches after its position, or dead letters that
-- somebody asked for again. So that receivers with nothing to get cost nothing to pass over.
alter table deliveries add column waits smallint not null default 0;
update deliveries set waits = 1
  where position < (select q.last_position from queries q where q.id = deliveries.query)
  or exists (select 1 from dead_letters l where l.delivery = deliveries.id and l.replay = 1);
create index deliveries_waiting on deliveries (id) where waits = 1;
