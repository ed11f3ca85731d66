-- Stories: entries of several feeds that tell the same. A job behind the polls finds them.

-- The entries of stories. An entry that is alone has no row.
create table story_entries (
  entry integer primary key references entries (id) on delete cascade,
  story bigint not null,           -- the number of its first entry, which may be deleted
  published_at bigint not null
);
create index story_entries_by_story on story_entries (story, entry);
create index story_entries_by_time on story_entries (published_at, entry);

-- Keys of the entries of the last days: pages and parts of titles (feed::StoryKeys).
create table story_keys (
  key bigint not null,
  entry bigint not null references entries (id) on delete cascade,
  published_at bigint not null,
  primary key (key, entry)
) without rowid;
create index story_keys_by_entry on story_keys (entry);
create index story_keys_by_time on story_keys (published_at);

create table story_progress (
  only_row integer primary key check (only_row = 1),
  done_to bigint not null
);
-- Stories begin with the entries that come after this step.
insert into story_progress (only_row, done_to)
  select 1, coalesce(max(id), 0) from entries;
