//! The feed of each entry, in memory: four bytes per entry, so that unread entries are counted by
//! feed without reading a row. Entry numbers are never reused and an entry never changes its feed,
//! so the cache stays valid. Deleted entries count as read. Ranges of numbers that no entry has
//! take no memory. The numbers of each feed's entries take four bytes per entry again, so that an
//! account with few of the feeds does not walk over all entries.

use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock};

use crate::db::sql::Connection;
use feed::{EntryId, FeedId};

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
    /// The entries of each feed.
    by_feed: HashMap<FeedId, Vec<u32>>,
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
        let place = &mut block.get_or_insert_with(|| Box::new([0; BLOCK]))[entry % BLOCK];
        // A range that could be loaded only in part is loaded again.
        if *place == 0
            && let Ok(number) = u32::try_from(entry)
        {
            self.by_feed.entry(FeedId(feed)).or_default().push(number);
        }
        *place = feed;
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

    /// Returns the entries of some feeds below a number, the newest first; `None` if they are more
    /// than `max`. Some may be deleted.
    pub(crate) fn few_of(
        &self,
        conn: &Connection,
        feeds: &HashSet<FeedId>,
        below: i64,
        max: usize,
    ) -> Result<Option<Vec<EntryId>>, DbError> {
        self.catch_up(conn)?;
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<EntryId> = Vec::new();
        for entries in feeds.iter().filter_map(|feed| known.by_feed.get(feed)) {
            let below = entries.iter().map(|entry| i64::from(*entry)).filter(|n| *n < below);
            found.extend(below.map(EntryId));
            if found.len() > max {
                return Ok(None);
            }
        }
        found.sort_unstable_by(|one, other| other.cmp(one));
        Ok(Some(found))
    }

    /// Returns those of some entries that pass a test, in their order.
    pub(crate) fn of_feeds(
        &self,
        conn: &Connection,
        mut entries: Vec<EntryId>,
        is_wanted: impl Fn(EntryId, FeedId) -> bool,
    ) -> Result<Vec<EntryId>, DbError> {
        self.catch_up(conn)?;
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| is_wanted(*entry, FeedId(cached.get(index_of(entry.0)))));
        Ok(entries)
    }

    /// Returns the first entries behind a number whose feed passes a test.
    pub(crate) fn after(
        &self,
        conn: &Connection,
        after: EntryId,
        limit: usize,
        is_wanted: impl Fn(FeedId) -> bool,
    ) -> Result<Vec<EntryId>, DbError> {
        self.catch_up(conn)?;
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (mut at, mut found) = (index_of(after.0.max(0)) + 1, Vec::new());
        while at < cached.end && found.len() < limit {
            if cached.blocks.get(at / BLOCK).is_none_or(Option::is_none) {
                at = (at / BLOCK + 1) * BLOCK;
                continue;
            }
            let feed = cached.get(at);
            if feed != 0 && is_wanted(FeedId(feed)) {
                found.push(EntryId(i64::try_from(at).unwrap_or(i64::MAX)));
            }
            at += 1;
        }
        Ok(found)
    }

    /// Counts the unread entries of each of these feeds that has any.
    pub(crate) fn unread_of(
        &self,
        conn: &Connection,
        feeds: &HashSet<FeedId>,
        is_unread: impl Fn(EntryId) -> bool,
    ) -> Result<HashMap<FeedId, u64>, DbError> {
        self.catch_up(conn)?;
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut counts = HashMap::new();
        for feed in feeds {
            let entries = cached.by_feed.get(feed).map_or(&[][..], Vec::as_slice);
            let n = entries.iter().filter(|entry| is_unread(EntryId(i64::from(**entry)))).count();
            if n > 0 {
                counts.insert(*feed, n as u64);
            }
        }
        Ok(counts)
    }

    /// Returns the unread entries of these feeds; `None` if there are more than `max`.
    pub(crate) fn unread_entries(
        &self,
        conn: &Connection,
        feeds: &HashSet<FeedId>,
        max: u64,
        is_unread: impl Fn(EntryId) -> bool,
    ) -> Result<Option<Vec<EntryId>>, DbError> {
        self.catch_up(conn)?;
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut unread = Vec::new();
        for feed in feeds {
            let entries = cached.by_feed.get(feed).map_or(&[][..], Vec::as_slice);
            let entries = entries.iter().map(|entry| EntryId(i64::from(*entry)));
            unread.extend(entries.filter(|entry| is_unread(*entry)));
            if unread.len() as u64 > max {
                return Ok(None);
            }
        }
        Ok(Some(unread))
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
