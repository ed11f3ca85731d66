//! Which feed each entry came from, in memory: four bytes an entry, so that unread entries are
//! counted by feed without reading a row. Numbers are never given again and no entry changes its
//! feed, so what was read once stays true; entries that are no longer kept count as read.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use feed::FeedId;
use rusqlite::{Connection, OptionalExtension};

use crate::error::Fault;
use crate::marks::ReadMarks;

/// The feed of each entry by the entry's number; 0 where there is none.
#[derive(Default)]
pub(crate) struct Origins(RwLock<Vec<u32>>);

impl Origins {
    /// Unread entries of each feed that has any.
    pub(crate) fn unread(
        &self,
        conn: &Connection,
        marks: &ReadMarks,
    ) -> Result<HashMap<FeedId, u64>, Fault> {
        self.catch_up(conn)?;
        // Numbers only: a panic elsewhere leaves them whole.
        let feeds = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut counts: Vec<u64> = Vec::new();
        marks.for_each_unread(|entry| {
            let feed = feeds.get(entry).copied().unwrap_or(0) as usize;
            if counts.len() <= feed {
                counts.resize(feed + 1, 0);
            }
            counts[feed] += 1;
        });
        let numbered = (0..).zip(counts).skip(1).filter(|(_, n)| *n > 0);
        Ok(numbered.map(|(feed, n)| (FeedId(feed), n)).collect())
    }

    /// Reads on to the last entry: all of them at first, from an index, then what came since.
    fn catch_up(&self, conn: &Connection) -> Result<(), Fault> {
        let sql = "select seq from sqlite_sequence where name = 'entries'";
        let last = conn.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
        let end = place(last.unwrap_or(0)) + 1;
        if self.0.read().unwrap_or_else(PoisonError::into_inner).len() >= end {
            return Ok(());
        }
        let mut feeds = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let start = feeds.len();
        feeds.resize(start.max(end), 0);
        let sql = if start == 0 {
            "select id, feed from entries indexed by entries_newest where $1 = 0"
        } else {
            "select id, feed from entries where id >= $1"
        };
        let mut statement = conn.prepare_cached(sql)?;
        let first = i64::try_from(start).unwrap_or(i64::MAX);
        let read = statement.query([first]).and_then(|mut rows| {
            while let Some(row) = rows.next()? {
                if let Some(feed) = feeds.get_mut(place(row.get(0)?)) {
                    *feed = row.get(1)?;
                }
            }
            Ok(())
        });
        if read.is_err() {
            // Half of it would be taken for all.
            feeds.truncate(start);
        }
        Ok(read?)
    }
}

/// Numbers of entries are never negative.
fn place(entry: i64) -> usize {
    usize::try_from(entry).unwrap_or(0)
}
