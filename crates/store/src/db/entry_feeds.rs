//! The feed of each entry, in memory: four bytes per entry, so that unread entries are counted by
//! feed without reading a row. Entry numbers are never reused and an entry never changes its feed,
//! so the cache stays valid. Deleted entries count as read. Ranges of numbers that no entry has
//! take no memory.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::db::sql::Connection;
use feed::FeedId;

use crate::db::{dialect, sequence};
use crate::error::DbError;

/// Entry numbers in one block of memory.
const BLOCK: usize = 4096;

#[derive(Default)]
pub(crate) struct EntryFeeds(RwLock<FeedBlocks>);

/// The feed of each entry by entry number; 0 means none.
#[derive(Default)]
struct FeedBlocks {
    blocks: Vec<Option<Box<[u32; BLOCK]>>>,
    /// The first number that is not loaded yet.
    end: usize,
}

impl FeedBlocks {
    fn get(&self, entry: usize) -> u32 {
        let block = self.blocks.get(entry / BLOCK).and_then(Option::as_ref);
        block.map_or(0, |feeds| feeds[entry % BLOCK])
    }

    fn set(&mut self, entry: usize, feed: u32) {
        if self.blocks.len() <= entry / BLOCK {
            self.blocks.resize_with(entry / BLOCK + 1, || None);
        }
        let block = &mut self.blocks[entry / BLOCK];
        block.get_or_insert_with(|| Box::new([0; BLOCK]))[entry % BLOCK] = feed;
    }
}

impl EntryFeeds {
    /// Counts the unread entries of each feed that has any.
    pub(crate) fn unread(
        &self,
        conn: &Connection,
        for_each_unread: impl FnOnce(&mut dyn FnMut(usize)),
    ) -> Result<HashMap<FeedId, u64>, DbError> {
        self.catch_up(conn)?;
        // A panic elsewhere cannot leave the numbers inconsistent.
        let feeds = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut counts: Vec<u64> = Vec::new();
        for_each_unread(&mut |entry| {
            let feed = feeds.get(entry) as usize;
            if counts.len() <= feed {
                counts.resize(feed + 1, 0);
            }
            counts[feed] += 1;
        });
        let numbered = (0..).zip(counts).skip(1).filter(|(_, n)| *n > 0);
        Ok(numbered.map(|(feed, n)| (FeedId(feed), n)).collect())
    }

    /// Loads the entries that are missing: all of them from an index at first, later only the new
    /// ones.
    fn catch_up(&self, conn: &Connection) -> Result<(), DbError> {
        let end = index_of(sequence::last_entry(conn)?) + 1;
        if self.0.read().unwrap_or_else(PoisonError::into_inner).end >= end {
            return Ok(());
        }
        let mut feeds = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let sql = if feeds.end == 0 {
            dialect::feeds_of_entries(conn)
        } else {
            "select id, feed from entries where id >= $1"
        };
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.scan([i64::try_from(feeds.end).unwrap_or(i64::MAX)])?;
        while let Some(row) = &rows.next()? {
            feeds.set(index_of(row.get(0)?), row.get(1)?);
        }
        // Set at the end, because a partly loaded range must be loaded again.
        feeds.end = feeds.end.max(end);
        Ok(())
    }
}

/// Converts an entry number to an index. Entry numbers are never negative.
fn index_of(entry: i64) -> usize {
    usize::try_from(entry).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leap_of_numbers_takes_no_room() {
        let mut feeds = FeedBlocks::default();
        for entry in [1, 4095, 4096, 10_000_001] {
            feeds.set(entry, 7);
        }
        assert_eq!([0, 1, 4096, 5000, 10_000_001].map(|entry| feeds.get(entry)), [0, 7, 7, 0, 7]);
        assert_eq!(feeds.blocks.iter().flatten().count(), 3);
    }
}
