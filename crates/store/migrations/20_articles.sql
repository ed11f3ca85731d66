-- Whole articles: the pages behind entries, languages, categories, topics, icons, and the positions
-- of players.

-- What the engine found out about an entry when it recorded it.
alter table entries add column lang text;              -- primary subtag, as `de`; null: unknown
alter table entries add column lang_tag text;          -- the whole tag, if it says more: `de-AT`
alter table entries add column lang_source smallint;   -- see LanguageOrigin
alter table entries add column lang_confidence smallint; -- 0 to 1000, if it was detected
alter table entries add column category text;          -- null: neither entry nor feed names one
alter table entries add column category_source smallint; -- see CategoryOrigin
alter table entries add column topic smallint;         -- 1 to 17: the top Media Topics of the IPTC
alter table entries add column wants_article smallint; -- 1: its page is fetched without being asked
alter table entries add column media text;             -- JSON; null: none
create index entries_by_language on entries (lang, published_at, id, feed) where lang is not null;
create index entries_wanting_article on entries (id) where wants_article = 1;

-- The number of stored entries in each language.
create table language_counts (
  language text primary key,
  entries bigint not null
) without rowid;

-- The icon that the documents of a feed declare, and the language of its last texts.
alter table feeds add column icon text;
alter table feeds add column detected_language text;
alter table feeds add column detected_confidence smallint;
-- Whether pages are fetched: 0 never, 1 when somebody opens an entry, 2 every one; null: not set
-- here. The selector is CSS for the main text of a page.
alter table feeds add column articles smallint;
alter table feeds add column article_selector text;
alter table tag_settings add column articles smallint;
alter table tag_settings add column article_selector text;

-- The page behind an entry, next to the text of the feed, or why there is none.
create table articles (
  entry integer primary key references entries (id) on delete cascade,
  fetched_at bigint not null,
  url text not null,               -- of the last request
  canonical text,
  title text,
  byline text,
  site text,
  excerpt text,
  image text,
  section text,
  language text,
  direction text,
  published_at bigint,
  text text,                       -- one line per block; null: there is no article
  html blob,                       -- a zstandard frame, not sanitised
  page blob,                       -- the raw page as a frame, if the operator keeps it
  embeds text,                     -- JSON; null: none
  n_words bigint not null default 0,
  noarchive smallint not null default 0,
  extractor text not null,         -- name and version
  why_not text,                    -- null: there is an article
  detail text,                     -- the same as a sentence
  etag blob,
  last_modified blob
);
create index articles_by_time on articles (fetched_at);

-- Pages that are to be fetched.
create table article_requests (
  entry integer primary key references entries (id) on delete cascade,
  by_person smallint not null,     -- 1: somebody asked for it
  asked_at bigint not null,
  tries bigint not null default 0,
  next_at bigint,                  -- null: no more tries; a deadline is pending
  decide_by bigint,                -- queries that use the article wait until then; null: none
  error text
);
create index article_requests_by_next on article_requests (by_person, next_at)
  where next_at is not null;
create index article_requests_deciding on article_requests (decide_by)
  where decide_by is not null;

-- Pages that were asked for, by registrable domain and day (from 1970-01-01 in UTC). The domain ''
-- has the sum.
create table article_days (
  domain text not null,
  day bigint not null,
  n bigint not null,
  primary key (domain, day)
) without rowid;

-- What sites say in robots.txt, for a day.
create table robots (
  origin text primary key,
  fetched_at bigint not null,
  expires_at bigint not null,
  rules text not null              -- the lines that hold for us
) without rowid;

-- Icons by the digest of their bytes, and the site that each belongs to.
create table icons (
  hash text primary key,           -- the first half of SHA-256, in hexadecimal
  mime_type text not null,
  width bigint not null,
  height bigint not null,
  bytes blob not null
) without rowid;
create table icon_origins (
  origin text primary key,
  hash text references icons (hash),
  url text,                        -- where the icon was found
  etag blob,
  fetched_at bigint,
  next_at bigint not null,         -- when the site is asked again
  error text
) without rowid;
create index icon_origins_by_next on icon_origins (next_at);
create table feed_icons (
  feed integer primary key references feeds (id) on delete cascade,
  origin text not null references icon_origins (origin)
);
create index feed_icons_by_origin on feed_icons (origin);

-- How far an account has listened or watched.
create table playback_positions (
  account bigint not null,
  entry bigint not null references entries (id) on delete cascade,
  url text not null,               -- of the enclosure
  seconds double precision not null,
  duration double precision,
  changed_at bigint not null,
  primary key (account, entry, url)
) without rowid;
create index playback_positions_by_entry on playback_positions (entry);

-- The last entry when a query was applied: queries do not decide later on entries before it.
alter table queries add column since_entry bigint not null default 0;
