-- The last changes of many feeds by each account, with everything that an undo needs. They are kept
-- for a while only.
create table bulk_changes (
  account bigint not null,         -- who made the change; 0: the instance
  number bigint not null,
  at bigint not null,
  what text not null,              -- the change in words
  feeds bigint not null,
  bytes bigint not null,           -- the length of the next column
  undo text not null,              -- JSON: how it was before
  primary key (account, number)
) without rowid;
create index bulk_changes_by_age on bulk_changes (at);

-- The place of a tag in the order of the person at the machine; null: after the others, by name.
alter table tag_numbers add column position bigint;
