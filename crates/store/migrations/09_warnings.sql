-- Repairs and omissions of the parser in the document of a poll: one sentence a line, at most 2000
-- bytes. Null: nothing, or no document.
alter table polls add column warnings text;
