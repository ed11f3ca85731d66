-- What people open, which feeds are popular, and suggestions.

-- The entries that an account has opened, so that each counts once: bits as in read_marks.
create table opened_marks (
  account bigint not null,
  block bigint not null,
  bits blob not null,
  primary key (account, block)
) without rowid;
-- How many entries of a feed an account has opened on a day (days since 1970, UTC).
create table opened_days (
  account bigint not null,
  feed bigint not null references feeds (id) on delete cascade,
  day bigint not null,
  opened bigint not null,
  primary key (account, feed, day)
) without rowid;
create index opened_days_by_feed on opened_days (feed);
create index opened_days_by_day on opened_days (day);
-- The same by hour (hours since 1970, UTC), of all feeds together.
create table opened_hours (
  account bigint not null,
  hour bigint not null,
  opened bigint not null,
  primary key (account, hour)
) without rowid;
create index opened_hours_by_hour on opened_hours (hour);

-- The people who subscribe to a feed, and what they opened in 30 days. People who do not want to
-- be counted, and feeds with secrets, are left out. Calculated now and then.
create table feed_popularity (
  feed integer primary key references feeds (id) on delete cascade,
  subscribers bigint not null,
  openers bigint not null,         -- the people who opened something of it
  opened bigint not null
);
create index feed_popularity_by_subscribers on feed_popularity (subscribers, feed);
create index feed_popularity_by_opened on feed_popularity (opened, feed);
-- Feeds with common subscribers, the most similar ones of each.
create table feed_neighbours (
  feed bigint not null references feeds (id) on delete cascade,
  other bigint not null references feeds (id) on delete cascade,
  people bigint not null,
  similarity double precision not null,
  primary key (feed, other)
) without rowid;
create index feed_neighbours_by_other on feed_neighbours (other);

-- The site of a feed: a host without www.
create table feed_sites (
  feed integer primary key references feeds (id) on delete cascade,
  site text not null
);
create index feed_sites_by_site on feed_sites (site, feed);
-- Other sites that the entries of a feed link to, with the time of the last such entry.
create table linked_sites (
  feed bigint not null references feeds (id) on delete cascade,
  site text not null,
  origin text not null,            -- scheme and host of the last link
  linked_at bigint not null,
  primary key (feed, site)
) without rowid;
create index linked_sites_by_site on linked_sites (site, linked_at);
create index linked_sites_by_time on linked_sites (linked_at);
-- Sites whose page was searched for feeds, and the feeds that it names.
create table site_looks (
  site text primary key,
  looked_at bigint not null
) without rowid;
create index site_looks_by_time on site_looks (looked_at);
create table site_feeds (
  site text not null references site_looks (site) on delete cascade,
  place bigint not null,
  url text not null,
  title text,
  primary key (site, place)
) without rowid;

-- Feeds that an account does not want to be suggested, by address.
create table dismissed_feeds (
  account bigint not null,
  url text not null,
  dismissed_at bigint not null,
  primary key (account, url)
) without rowid;
