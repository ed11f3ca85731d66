//! The seam to the standing queries: what they are told of new entries inside the poll's
//! transaction, and what they answer. Which queries keep an entry is decided behind the seam; here
//! their memory is only held to what is stored: whatever was undone is built anew.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use feed::{EntryId, FeedId, Time};
use rusqlite::Connection;

use crate::error::Fault;
use crate::{StoreError, queries};

/// A query's number: positive, in the order of creation, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryId(pub u32);

/// A new entry and the feed it came from, as the queries see it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    pub id: EntryId,
    pub feed: FeedId,
    /// As subscribed.
    pub feed_url: &'a str,
    pub tags: &'a [String],
    pub language: Option<&'a str>,
    pub title: Option<&'a str>,
    pub summary: Option<&'a str>,
    pub content: Option<&'a str>,
    pub author: Option<&'a str>,
    pub categories: &'a [String],
    pub link: Option<&'a str>,
    pub published_at: Time,
    pub seen_at: Time,
}

/// A query that keeps an entry, and the entry it was joined with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub query: QueryId,
    pub partner: Option<EntryId>,
}

/// What a query remembers from now on, or no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateChange {
    Remember { query: QueryId, number: u64, bytes: Vec<u8> },
    Forget { query: QueryId, number: u64 },
}

/// Of a feed's entries, how many were seen and how many were wanted; both fade.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    pub seen: f64,
    pub kept: f64,
}

/// Whoever knows which queries keep an entry. Called by the writer alone, one call at a time, in
/// the order of recording.
pub trait Keeps: Send {
    /// One without queries, for looking at the past beside the present.
    fn fresh(&self) -> Box<dyn Keeps>;

    /// Whether there is no query at all.
    fn is_empty(&self) -> bool;

    /// Forgets all queries.
    fn clear(&mut self);

    /// Takes in a query with what it remembers, in place of the one with this number. Answers the
    /// numbers of records that are not its own any more; they are deleted.
    fn put(
        &mut self,
        query: QueryId,
        name: &str,
        text: &str,
        records: &[(u64, Vec<u8>)],
    ) -> Vec<u64>;

    fn take_away(&mut self, query: QueryId);

    /// Whether any query reads a feed.
    fn reads(&self, feed_url: &str, tags: &[String]) -> bool;

    /// The queries that keep an entry.
    fn keep(&mut self, entry: &Arrival<'_>) -> Vec<Kept>;

    /// What was remembered and forgotten since the last call, in this order.
    fn take_changes(&mut self) -> Vec<StateChange>;

    /// A feed's share after so many more entries.
    fn faded(&self, before: Share, n_seen: u32, n_kept: u32) -> Share;
}

/// Makes a panic behind the seam an error of whoever asked.
pub(crate) fn guarded<T>(ask: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| Err(StoreError::Matching.into()))
}

/// How the memory behind the seam stands to what is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// Equal to the last commit.
    #[default]
    Sound,
    /// Ahead of the last commit.
    Ahead,
    /// Something that it took in was undone.
    Stale,
}

/// The one who keeps, where somebody brought one. Locked by the writer only, so that nobody ever
/// waits for the writer with the lock in hand.
#[derive(Default)]
pub(crate) struct Keeper(Mutex<Slot>);

#[derive(Default)]
struct Slot {
    keeps: Option<Box<dyn Keeps>>,
    standing: Standing,
    /// Whether the job that is applied now has asked.
    asked: bool,
}

impl Keeper {
    pub fn install(&self, conn: &Connection, mut keeps: Box<dyn Keeps>) -> Result<(), Fault> {
        queries::load(conn, &mut *keeps, true)?;
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Slot { keeps: Some(keeps), standing: Standing::Ahead, asked: true };
        Ok(())
    }

    /// Asks whoever keeps, after making sure that it knows what is stored; `None` where there is
    /// nobody. A fault behind the seam costs this job and no other.
    pub fn ask<T>(
        &self,
        conn: &Connection,
        ask: impl FnOnce(&mut dyn Keeps) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Slot { keeps: Some(keeps), standing, asked } = &mut *slot else { return Ok(None) };
        *asked = true;
        if *standing == Standing::Stale {
            keeps.clear();
            queries::load(conn, &mut **keeps, true)?;
        }
        *standing = Standing::Ahead;
        match catch_unwind(AssertUnwindSafe(|| ask(&mut **keeps))) {
            Ok(answer) => answer.map(Some),
            Err(_) => {
                *standing = Standing::Stale;
                Err(StoreError::Matching.into())
            }
        }
    }

    /// A job was applied. One that failed is undone alone: what others asked still holds.
    pub fn applied(&self, failed: bool) {
        let asked = {
            let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut slot.asked)
        };
        if failed && asked {
            self.undone();
        }
    }

    pub fn committed(&self) {
        self.turn(Standing::Sound);
    }

    pub fn undone(&self) {
        self.turn(Standing::Stale);
    }

    /// Only what is ahead of the last commit is made sound by the next, or stale by its loss.
    fn turn(&self, to: Standing) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.standing == Standing::Ahead {
            slot.standing = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::migrations;

    /// Counts how often it is told of a query.
    #[derive(Default)]
    struct Told(Arc<AtomicU32>);

    impl Keeps for Told {
        fn fresh(&self) -> Box<dyn Keeps> {
            Box::new(Told::default())
        }

        fn is_empty(&self) -> bool {
            false
        }

        fn clear(&mut self) {}

        fn put(&mut self, _: QueryId, _: &str, _: &str, _: &[(u64, Vec<u8>)]) -> Vec<u64> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Vec::new()
        }

        fn take_away(&mut self, _: QueryId) {}

        fn reads(&self, _: &str, _: &[String]) -> bool {
            true
        }

        fn keep(&mut self, _: &Arrival<'_>) -> Vec<Kept> {
            Vec::new()
        }

        fn take_changes(&mut self) -> Vec<StateChange> {
            Vec::new()
        }

        fn faded(&self, before: Share, _: u32, _: u32) -> Share {
            before
        }
    }

    fn done<T>(result: Result<T, Fault>) -> T {
        result.map_err(|fault| fault.at(&Arc::from("memory"))).unwrap()
    }

    #[test]
    fn a_job_that_failed_without_asking_makes_nobody_read_all_queries_again() {
        let conn = Connection::open_in_memory().unwrap();
        done(migrations::migrate(&conn, &Arc::from("memory")));
        let sql = "insert into queries (name, text, created_at, changed_at, link_key, \
                   signing_key) values ('a', '', 0, 0, '', '')";
        conn.execute(sql, []).unwrap();
        let (told, keeper) = (Told::default(), Keeper::default());
        let n_told = Arc::clone(&told.0);
        let ask = || done(keeper.ask(&conn, |_| Ok(())));
        done(keeper.install(&conn, Box::new(told)));
        keeper.applied(false);
        ask();
        keeper.applied(false);
        keeper.applied(true);
        ask();
        assert_eq!(n_told.load(Ordering::Relaxed), 1, "what was undone had not asked");
        keeper.applied(true);
        ask();
        assert_eq!(n_told.load(Ordering::Relaxed), 2, "what was undone had asked");
    }
}
