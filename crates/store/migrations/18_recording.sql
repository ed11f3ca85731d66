-- Recordings: periods in which every poll and every document is kept as it came.
create table recordings (
  id integer primary key autoincrement,
  started_at bigint not null,
  ends_at bigint not null,
  ended_at bigint,                 -- null: under way
  policy text not null,
  user_agent text not null,
  feed_bytes_max bigint,           -- stored bytes of documents of one feed; null: no limit
  bytes_max bigint,                -- stored bytes in all; null: no limit
  n_polls bigint not null default 0,
  stored_bytes bigint not null default 0
);

-- The messages of a recorded poll. A frame is a zstandard frame; with a base it needs the text of
-- that poll as its prefix.
create table recorded_polls (
  feed bigint not null references feeds (id) on delete cascade,
  generation bigint not null,
  url text not null,               -- of the last request
  hops bigint not null,
  remote text,
  version bigint,                  -- of the document that the poll showed; null: none is kept
  sha256 blob,                     -- of the body; null: no body, or the same as before
  base bigint,                     -- the poll whose text is the prefix
  messages blob not null,          -- the heads of request and answer, as a frame
  primary key (feed, generation)
) without rowid;

-- The versions of a document, as they came but decompressed.
create table document_versions (
  feed bigint not null references feeds (id) on delete cascade,
  version bigint not null,
  generation bigint not null,      -- the poll that brought it
  sha256 blob not null,
  bytes bigint not null,           -- before compression
  is_whole smallint not null,      -- 0: the frame needs the version before as its prefix
  n_since_whole bigint not null,   -- frames from the last whole one on
  stored_bytes bigint not null,    -- of all versions of the feed up to this one
  frame blob not null,
  primary key (feed, version)
) without rowid;
