-- The last "mark all read" of each account, for an hour: the bits that it set, in the blocks of
-- read_marks.
create table read_undo (
  account bigint primary key,
  marked_at bigint not null,
  n_marked bigint not null
);
create table read_undo_blocks (
  account bigint not null references read_undo (account) on delete cascade,
  block bigint not null,
  bits blob not null,
  primary key (account, block)
) without rowid;

-- How an account likes to read: time zone, order, size of the text. Absent: the default.
create table reading_choices (
  account bigint not null,
  name text not null,
  value text not null,
  primary key (account, name)
) without rowid;
