//! The full-text index. A job of the engine follows the stream and adds entries as folded words; a
//! search uses words folded the same way. Results are candidates: the caller checks whether they
//! match exactly.
//!
//! Each database has its own index. `sqlite` and `postgres` hold their statements side by side.

mod postgres;
mod sqlite;
mod tsquery;
mod tsvector;

use std::collections::{BTreeMap, HashSet};

use feed::{EntryId, FeedId, SearchExpression, Time};

use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::reading::entries::{COLUMNS, entry_row, page};
use crate::reading::list::{OverflowRule, ReadEntry, load_entries};
use crate::reading::marks::{self, ReadMarks};
use crate::subscriptions::scope;
use crate::{AccountId, EntryRow, ReadFeeds, Store, StoreError};

/// The folded words of one entry, separated by spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchWords {
    pub entry: EntryId,
    /// The edit that the words come from. A later edit is indexed again.
    pub edited_at: Option<Time>,
    /// When the article was fetched whose words these are. A later one is indexed again.
    pub article_at: Option<Time>,
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
            let last = entries.iter().map(|words| words.entry.0).max().unwrap_or(0);
            put(conn, entries)?;
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
            let feeds = scope::read_feeds(conn, account)?;
            let stars = marks::stars(conn, account)?;
            let sql = "select id, feed from entries where id < $1 order by id desc";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.scan(params![below.map_or(i64::MAX, |id| id.0)])?;
            let mut found: Vec<EntryId> = Vec::new();
            while found.len() < limit as usize
                && let Some(row) = &rows.next()?
            {
                let entry = EntryId(row.get(0)?);
                if feeds.contains(FeedId(row.get(1)?)) || stars.contains(&entry) {
                    found.push(entry);
                }
            }
            drop(rows);
            let marks = ReadMarks::load(conn, account)?;
            load_entries(conn, found.into_iter(), &marks, &stars, OverflowRule::End)
        })
    }

    /// Returns the entries below a number whose words fit an expression, the newest first. On
    /// PostgreSQL, some entries with very long texts do not fit exactly.
    pub fn search(
        &self,
        account: AccountId,
        expression: &SearchExpression,
        below: Option<EntryId>,
        limit: u32,
    ) -> Result<Vec<ReadEntry>, StoreError> {
        self.read(|conn| {
            let below = below.map_or(i64::MAX, |id| id.0);
            let stars = marks::stars(conn, account)?;
            let found = match scope::read_feeds(conn, account)? {
                ReadFeeds::All => candidates(conn, expression, below, limit)?,
                ReadFeeds::Only(feeds) => {
                    let own = OwnEntries { feeds: &feeds, stars: &stars };
                    self.own_candidates(conn, expression, below, limit, own)?
                }
            };
            let marks = ReadMarks::load(conn, account)?;
            load_entries(conn, found.into_iter(), &marks, &stars, OverflowRule::End)
        })
    }
}

/// The first number of candidates that a search for one account looks at, and the largest.
const STEPS: (u32, u32) = (256, 16_384);
/// Up to this many entries of an account are tested one by one on PostgreSQL, which takes some 3 µs
/// each. Its index would collect the matches of all feeds, and SQLite's finds them fast enough.
const TESTED_MAX: usize = 16_384;

/// The entries that a search of an account may find: those of its feeds, and what it has starred
/// in any feed.
#[derive(Clone, Copy)]
struct OwnEntries<'a> {
    feeds: &'a HashSet<FeedId>,
    stars: &'a HashSet<EntryId>,
}

impl Store {
    /// Returns the candidates of one account only. Most candidates may belong to other feeds, so it
    /// looks at more and more of them.
    fn own_candidates(
        &self,
        conn: &Connection,
        expression: &SearchExpression,
        mut below: i64,
        limit: u32,
        OwnEntries { feeds, stars }: OwnEntries<'_>,
    ) -> Result<Vec<EntryId>, DbError> {
        if let Connection::Postgres(_) = conn
            && let Some(mut own) = self.entry_feeds().few_of(conn, feeds, below, TESTED_MAX)?
        {
            own.extend(stars.iter().filter(|entry| entry.0 < below));
            own.sort_unstable_by(|one, other| other.cmp(one));
            own.dedup();
            return Ok(postgres::among(conn, expression, &own, limit)?);
        }
        let is_own = |entry, feed| feeds.contains(&feed) || stars.contains(&entry);
        let (mut found, mut step) = (Vec::new(), STEPS.0.max(limit));
        loop {
            let some = candidates(conn, expression, below, step)?;
            let is_last = some.len() < step as usize;
            below = some.last().map_or(below, |entry| entry.0);
            found.extend(self.entry_feeds().of_feeds(conn, some, is_own)?);
            if is_last || found.len() >= limit as usize {
                found.truncate(limit as usize);
                return Ok(found);
            }
            step = (step * 2).min(STEPS.1.max(limit));
        }
    }
}

/// Adds or replaces entries. If an entry is given twice, its last words count.
fn put(conn: &Connection, entries: Vec<SearchWords>) -> Result<(), DbError> {
    let by_id: BTreeMap<i64, SearchWords> =
        entries.into_iter().map(|words| (words.entry.0, words)).collect();
    let entries: Vec<SearchWords> = by_id.into_values().collect();
    match conn {
        Connection::Sqlite(_) => sqlite::put(conn, &entries)?,
        Connection::Postgres(conn) => postgres::put(conn, &entries)?,
    }
    Ok(())
}

fn candidates(
    conn: &Connection,
    expression: &SearchExpression,
    below: i64,
    limit: u32,
) -> Result<Vec<EntryId>, DbError> {
    Ok(match conn {
        Connection::Sqlite(_) => sqlite::candidates(conn, expression, below, limit)?,
        Connection::Postgres(_) => postgres::candidates(conn, expression, below, limit)?,
    })
}

/// Removes deleted entries from the index.
pub(crate) fn remove_entries(conn: &Connection, entries: &[EntryId]) -> Result<(), DbError> {
    match conn {
        Connection::Sqlite(_) => sqlite::remove(conn, entries)?,
        Connection::Postgres(conn) => postgres::remove(conn, entries)?,
    }
    Ok(())
}

/// Marks an edited entry to be indexed again. An entry that retention has deleted is not marked:
/// its mark would stay, and many such marks would block all others.
pub(crate) fn note_change(conn: &Connection, entry: EntryId) -> Result<(), DbError> {
    let sql = "insert into search_stale (entry) select e.id from entries e, search_progress p \
               where e.id = $1 and p.indexed_to >= e.id on conflict do nothing";
    conn.prepare_cached(sql)?.execute([entry.0])?;
    Ok(())
}
