-- The last entry number, which is given in the transaction that records the entry. So the numbers
-- ascend without holes in both databases. `epoch` is the process that may record (PostgreSQL).
create table stream (
  only_row integer primary key check (only_row = 1),
  epoch bigint not null,
  last_entry bigint not null
);
insert into stream (only_row, epoch, last_entry) values (1, 0, 0);
update stream set last_entry =
  coalesce((select seq from sqlite_sequence where name = 'entries'), 0);

-- The process that records, if several processes share the database.
create table seat (
  only_row integer primary key check (only_row = 1),
  epoch bigint not null,
  holder text,                     -- the name of the process
  backend bigint,                  -- its session in the database
  beat bigint not null default 0,  -- when it last showed a sign of life, by the database's clock
  figures text                     -- what other processes show of it, as JSON
);
insert into seat (only_row, epoch) values (1, 0);

-- The epoch that has taken a request.
alter table requests add column taken_by bigint;
