-- The first feed of an entry that its document says was taken from another feed.
alter table entries add column source text;      -- JSON, null: the feed's own entry

-- A digest of that feed's name and of the id under which the entry is published. It stays as long
-- as the key, so that a copy that comes back is known after its text was dropped.
alter table entry_keys add column origin blob;
create index entry_keys_by_origin on entry_keys (origin) where origin is not null;

-- Others know feeds whose address may hold a secret by their site.
create index feeds_by_site on feeds (site) where url like '%@%' or url like '%?%';

-- The name that this instance puts on what it publishes (RFC 9562, version 4).
insert into settings (key, value) values ('instance', lower(
  hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a'
  || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))));
