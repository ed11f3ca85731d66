-- A digest of the URL that gave the validators. Another server does not understand them and might
-- report a moved feed as unchanged. Null: not known.
alter table feed_state add column validators_of bigint;
