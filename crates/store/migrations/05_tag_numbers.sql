-- Reader apps know tags by numbers. A tag gets one when an app first asks, keeps it under another
-- name, and none is given twice. Number 1 is for feeds without a tag.
create table tag_numbers (
  id integer primary key autoincrement,
  tag text not null unique,
  made bigint not null             -- 1: an app made it, so it stays while no feed bears it
);
insert into tag_numbers (id, tag, made) values (1, '', 1);
