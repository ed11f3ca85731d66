-- Requests that may be under way, on a database that several processes share. A row is committed
-- before its request is sent. It ends with the record of its poll, or at `until`.
create table grants (
  number integer primary key,      -- the epoch of the process that granted it, and a counter
  epoch bigint not null,
  domain text not null,            -- the registrable domain
  terminal text not null,          -- the machine that sends the request
  until bigint not null            -- by the database's clock
);

-- Every process of the instance, with its last sign of life.
create table machines (
  name text primary key,
  role text not null,              -- controller, standby, terminal or web
  region text,
  version text not null,
  life text not null,              -- a random text, another one after each start
  since bigint not null,
  beat bigint not null,            -- its last sign of life, by the database's clock
  room bigint not null default 0,  -- polls that it makes at once
  in_flight bigint not null default 0,
  polls_per_second double precision not null default 0,
  round_trip_ms double precision,
  network_up smallint not null default 1,
  drain smallint not null default 0,  -- 1: it is asked to finish its work and to take no more
  figures text                     -- more about it, as JSON
) without rowid;

-- The region in which a feed, or the feeds of a tag, are polled; null: any.
alter table feeds add column region text;
alter table tag_settings add column region text;
