-- Of which URL the validators are, as a digest: those of one server mean nothing to another, and a
-- feed that moves would be called unchanged by a server that was never asked. Null: not known.
alter table feed_state add column validators_of bigint;
