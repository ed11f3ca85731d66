//! Full text, behind the polls: entries are given to the index by whoever follows the stream, as
//! words that are folded already; a search names words folded the same way. What is found is a
//! candidate: whether it fits the question to the letter is judged elsewhere.

use feed::{EntryId, Time};
use rusqlite::params;

use crate::error::Fault;
use crate::reading::entries::{COLUMNS, entry_row, page};
use crate::reading::list::{Over, ReadEntry, shown};
use crate::reading::marks::{self, ReadMarks};
use crate::{AccountId, EntryRow, Store, StoreError};

/// The words of one entry, folded, with a space between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchWords {
    pub entry: EntryId,
    /// The edit whose text these are: a later one is indexed anew, whenever it came.
    pub edited_at: Option<Time>,
    pub title: String,
    pub body: String,
}

impl Store {
    /// Up to which entry the index is filled.
    pub fn indexed_to(&self) -> Result<EntryId, StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached("select indexed_to from search_progress")?;
            Ok(EntryId(statement.query_row([], |row| row.get(0))?))
        })
    }

    /// Entries that the index lacks: those that changed since, then the next of the stream.
    pub fn unindexed(&self, limit: u32) -> Result<Vec<EntryRow>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "{COLUMNS} where id in (select entry from search_stale) order by id limit $1"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let mut found = page(statement.query_map([limit], entry_row)?, |row| row)?;
            let sql = format!(
                "{COLUMNS} where id > (select indexed_to from search_progress) order by id limit $1"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            found.extend(page(statement.query_map([limit], entry_row)?, |row| row)?);
            Ok(found)
        })
    }

    /// Adds entries to the index, or replaces what it has of them, and moves its mark.
    pub async fn index(&self, entries: Vec<SearchWords>) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            put(conn, &entries)?;
            let last = entries.iter().map(|words| words.entry.0).max().unwrap_or(0);
            let sql = "update search_progress set indexed_to = $1 where indexed_to < $1";
            conn.execute(sql, [last])?;
            Ok(())
        })
        .await
    }

    /// Entries below a number, the last recorded first: candidates that no word finds.
    pub fn recorded_before(
        &self,
        account: AccountId,
        below: Option<EntryId>,
        limit: u32,
    ) -> Result<Vec<ReadEntry>, StoreError> {
        self.read(|conn| {
            let sql = "select id from entries where id < $1 order by id desc limit $2";
            let mut statement = conn.prepare_cached(sql)?;
            let below = below.map_or(i64::MAX, |id| id.0);
            let rows = statement.query_map(params![below, limit], |row| row.get(0).map(EntryId))?;
            let found: Vec<EntryId> = rows.collect::<Result<_, _>>()?;
            let marks = ReadMarks::load(conn, account)?;
            let stars = marks::stars(conn, account)?;
            shown(conn, found.into_iter(), &marks, &stars, Over::End)
        })
    }

    /// Entries that an expression of FTS5 finds, the newest first, below a number.
    pub fn search(
        &self,
        account: AccountId,
        expression: &str,
        below: Option<EntryId>,
        limit: u32,
    ) -> Result<Vec<ReadEntry>, StoreError> {
        self.read(|conn| {
            let sql = "select rowid from search where search match $1 and rowid < $2 \
                       order by rowid desc limit $3";
            let mut statement = conn.prepare_cached(sql)?;
            let below = below.map_or(i64::MAX, |id| id.0);
            let rows = statement
                .query_map(params![expression, below, limit], |row| row.get(0).map(EntryId))?;
            let found: Vec<EntryId> = rows.collect::<Result<_, _>>()?;
            let marks = ReadMarks::load(conn, account)?;
            let stars = marks::stars(conn, account)?;
            shown(conn, found.into_iter(), &marks, &stars, Over::End)
        })
    }
}

fn put(conn: &rusqlite::Connection, entries: &[SearchWords]) -> Result<(), Fault> {
    // What was removed or edited since it was read must not come back with its old words.
    let mut statement = conn.prepare_cached(
        "insert or replace into search (rowid, title, body) \
         select id, $1, $2 from entries where id = $3",
    )?;
    let mut fresh = conn.prepare_cached("delete from search_stale where entry = $1")?;
    let mut stale = conn.prepare_cached(
        "insert into search_stale (entry) select id from entries \
         where id = $1 and edited_at is not $2",
    )?;
    for words in entries {
        let id = words.entry.0;
        statement.execute(params![words.title, words.body, id])?;
        fresh.execute([id])?;
        stale.execute(params![id, words.edited_at.map(Time::millis)])?;
    }
    Ok(())
}

/// Entries that are no longer kept are no longer found.
pub(crate) fn forget(conn: &rusqlite::Connection, entries: &[EntryId]) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached("delete from search where rowid = $1")?;
    let mut stale = conn.prepare_cached("delete from search_stale where entry = $1")?;
    for entry in entries {
        statement.execute([entry.0])?;
        stale.execute([entry.0])?;
    }
    Ok(())
}

/// An entry's text changed. Where retention dropped it there is nothing to index: its row would
/// stay for ever, and enough of them would keep every other change waiting.
pub(crate) fn note_change(conn: &rusqlite::Connection, entry: EntryId) -> Result<(), Fault> {
    let sql = "insert into search_stale (entry) select e.id from entries e, search_progress p \
               where e.id = $1 and p.indexed_to >= e.id on conflict do nothing";
    conn.prepare_cached(sql)?.execute([entry.0])?;
    Ok(())
}
