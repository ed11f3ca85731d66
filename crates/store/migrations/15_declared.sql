-- What documents declare about languages and subjects.

-- The language that an entry declares itself; null: that of its feed holds.
alter table entries add column language text;
-- The categories of the feed as a whole, as JSON; null: none.
alter table feeds add column categories text;
