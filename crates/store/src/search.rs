//! The full-text index. A job of the engine follows the stream and adds entries as folded words; a
//! search uses words folded the same way. Results are candidates: the caller checks whether they
//! match exactly.

use crate::db::sql::params;
use feed::{EntryId, Time};

use crate::error::DbError;
use crate::reading::entries::{COLUMNS, entry_row, page};
use crate::reading::list::{OverflowRule, ReadEntry, load_entries};
use crate::reading::marks::{self, ReadMarks};
use crate::{AccountId, EntryRow, Store, StoreError};

/// The folded words of one entry, separated by spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchWords {
    pub entry: EntryId,
    /// The edit that the words come from. A later edit is indexed again.
    pub edited_at: Option<Time>,
    pub title: String,
    pub body: String,
}

impl Store {
    /// Returns the last entry in the index.
    pub fn indexed_to(&self) -> Result<EntryId, StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached("select indexed_to from search_progress")?;
            Ok(EntryId(statement.query_row([], |row| row.get(0))?))
        })
    }

    /// Returns entries to be indexed: first those that were edited, then the next of the stream.
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

    /// Adds or replaces entries in the index, and notes the last one.
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

    /// Returns the entries below a number, the last recorded first, for searches without words.
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
            load_entries(conn, found.into_iter(), &marks, &stars, OverflowRule::End)
        })
    }

    /// Returns the entries below a number that match an FTS5 expression, the newest first.
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
            load_entries(conn, found.into_iter(), &marks, &stars, OverflowRule::End)
        })
    }
}

fn put(conn: &crate::db::sql::Connection, entries: &[SearchWords]) -> Result<(), DbError> {
    // An entry that was deleted or edited meanwhile must not get its old words.
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

/// Removes deleted entries from the index.
pub(crate) fn remove_entries(
    conn: &crate::db::sql::Connection,
    entries: &[EntryId],
) -> Result<(), DbError> {
    let mut statement = conn.prepare_cached("delete from search where rowid = $1")?;
    let mut stale = conn.prepare_cached("delete from search_stale where entry = $1")?;
    for entry in entries {
        statement.execute([entry.0])?;
        stale.execute([entry.0])?;
    }
    Ok(())
}

/// Marks an edited entry to be indexed again. An entry that retention has deleted is not marked:
/// its mark would stay, and many such marks would block all others.
pub(crate) fn note_change(
    conn: &crate::db::sql::Connection,
    entry: EntryId,
) -> Result<(), DbError> {
    let sql = "insert into search_stale (entry) select e.id from entries e, search_progress p \
               where e.id = $1 and p.indexed_to >= e.id on conflict do nothing";
    conn.prepare_cached(sql)?.execute([entry.0])?;
    Ok(())
}
