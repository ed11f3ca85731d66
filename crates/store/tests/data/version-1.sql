-- Rows as version 1 left them: one feed, two entries, two polls. The tables are those of
-- migrations/01_start.sql.

create table meta (key text primary key, value text not null) without rowid;
insert into meta (key, value)
  values ('step start', 'taken');
insert into meta (key, value)
  values ('version', '1');
insert into domains (id, name)
  values (1, 'example.org');
insert into feeds (id, url, added_at)
  values (1, 'https://example.org/a', 1700000000000);
insert into feed_tags (feed, tag)
  values (1, 'old');
insert into feed_state (feed, domain, generation, entries, next_at, last_poll_at, last_outcome, last_success_at,
  last_change_at, failures, moved_count, body_hash, etag)
  values (1, 1, 2, 2, 1700000002000, 1700000002000, 'unchanged', 1700000002000, 1700000001000, 0, 0,
  x'07070707070707070707070707070707', x'22383422');
insert into feed_window (feed, shown, learned)
  values (1,
  x'010001b73b7f0a9f816bd2c96f538af856ed7777f2b140fb59f50000000000000000e86be5cf8b0100000187755cca1d4b3a34a49ca32bec039f09bef1387b5236940000000000000000e86be5cf8b010000',
  x'');
insert into entries (id, feed, key, guid, title, published_at, seen_at, content_hash)
  values (1, 1, x'0187755cca1d4b3a34a49ca32bec039f', '1', 'title of 1', 1700000001000, 1700000001000,
  -7766929818164019703);
insert into entries (id, feed, key, guid, title, published_at, seen_at, content_hash)
  values (2, 1, x'01b73b7f0a9f816bd2c96f538af856ed', '2', 'title of 2', 1700000001000, 1700000001000,
  -767306006208022665);
insert into entry_keys (feed, key, entry, content_hash, published_at, seen_at)
  values (1, x'0187755cca1d4b3a34a49ca32bec039f', 1, -7766929818164019703, 1700000001000,
  1700000001000);
insert into entry_keys (feed, key, entry, content_hash, published_at, seen_at)
  values (1, x'01b73b7f0a9f816bd2c96f538af856ed', 2, -767306006208022665, 1700000001000, 1700000001000);
insert into polls (feed, generation, at, outcome, n_new, window_len, overlap, suspected_miss, bytes,
  elapsed_ms, next_at)
  values (1, 0, 1700000001000, 'seen', 2, 2, 0, 0, 0, 0, 1700003601000);
insert into polls (feed, generation, at, outcome, n_new, window_len, overlap, suspected_miss, bytes,
  elapsed_ms, next_at)
  values (1, 1, 1700000002000, 'unchanged', 0, 0, 0, 0, 0, 0, 1700000002000);
