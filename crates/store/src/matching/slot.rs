//! Holds the installed matcher. After a rollback of a change that the matcher has seen, it loads
//! the matcher again from the stored queries.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::db::sql::Connection;

use super::{EntryMatcher, load};
use crate::StoreError;
use crate::db::writer::WriteObserver;
use crate::error::DbError;

/// Turns a panic of the caller's function into an error.
pub(crate) fn guarded<T>(run: impl FnOnce() -> Result<T, DbError>) -> Result<T, DbError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(StoreError::Matching.into()))
}

/// How the memory of the matcher relates to the stored state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MatcherMemory {
    /// Equal to the last commit.
    #[default]
    Current,
    /// Ahead of the last commit.
    Ahead,
    /// A change that it has seen was undone.
    Stale,
}

/// The installed matcher, if there is one. Only the writer thread takes the lock, so that no thread
/// waits for the writer while it has the lock.
#[derive(Default)]
pub(crate) struct MatcherSlot(Mutex<InstalledMatcher>);

#[derive(Default)]
struct InstalledMatcher {
    matcher: Option<Box<dyn EntryMatcher>>,
    memory: MatcherMemory,
    /// Whether the current job has used the matcher.
    used: bool,
}

impl MatcherSlot {
    pub fn install(
        &self,
        conn: &Connection,
        mut matcher: Box<dyn EntryMatcher>,
    ) -> Result<(), DbError> {
        load(conn, &mut *matcher, true)?;
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *slot =
            InstalledMatcher { matcher: Some(matcher), memory: MatcherMemory::Ahead, used: true };
        Ok(())
    }

    /// Calls a function with the matcher, after loading it again if necessary. `None` means that no
    /// matcher is installed. A panic makes only this job fail.
    pub fn with_matcher<T>(
        &self,
        conn: &Connection,
        run: impl FnOnce(&mut dyn EntryMatcher) -> Result<T, DbError>,
    ) -> Result<Option<T>, DbError> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let InstalledMatcher { matcher: Some(matcher), memory, used } = &mut *slot else {
            return Ok(None);
        };
        *used = true;
        if *memory == MatcherMemory::Stale {
            matcher.clear();
            load(conn, &mut **matcher, true)?;
        }
        *memory = MatcherMemory::Ahead;
        match catch_unwind(AssertUnwindSafe(|| run(&mut **matcher))) {
            Ok(answer) => answer.map(Some),
            Err(_) => {
                *memory = MatcherMemory::Stale;
                Err(StoreError::Matching.into())
            }
        }
    }

    /// A commit or a rollback changes the state only if the matcher was ahead of the last commit.
    fn set_memory(&self, to: MatcherMemory) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.memory == MatcherMemory::Ahead {
            slot.memory = to;
        }
    }
}

impl WriteObserver for MatcherSlot {
    /// A failed job is undone alone. The matcher is stale only if that job has used it.
    fn applied(&self, failed: bool) {
        let used = {
            let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut slot.used)
        };
        if failed && used {
            self.undone();
        }
    }

    fn committed(&self) {
        self.set_memory(MatcherMemory::Current);
    }

    fn undone(&self) {
        self.set_memory(MatcherMemory::Stale);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::db::migrations;
    use crate::matching::{ArrivedEntry, QueryId, QueryMatch, QueryStateChange, RelevantShare};

    /// Counts how often a query is loaded.
    #[derive(Default)]
    struct CountingMatcher(Arc<AtomicU32>);

    impl EntryMatcher for CountingMatcher {
        fn fresh(&self) -> Box<dyn EntryMatcher> {
            Box::new(CountingMatcher::default())
        }

        fn is_empty(&self) -> bool {
            false
        }

        fn clear(&mut self) {}

        fn put(&mut self, _: QueryId, _: &str, _: &str, _: &[(u64, Vec<u8>)]) -> Vec<u64> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Vec::new()
        }

        fn remove_query(&mut self, _: QueryId) {}

        fn reads(&self, _: &str, _: &[String]) -> bool {
            true
        }

        fn match_entry(&mut self, _: &ArrivedEntry<'_>) -> Vec<QueryMatch> {
            Vec::new()
        }

        fn take_changes(&mut self) -> Vec<QueryStateChange> {
            Vec::new()
        }

        fn decayed_share(&self, before: RelevantShare, _: u32, _: u32) -> RelevantShare {
            before
        }
    }

    fn done<T>(result: Result<T, DbError>) -> T {
        result.map_err(|fault| fault.at(&Arc::from("memory"))).unwrap()
    }

    #[test]
    fn a_job_that_failed_without_asking_makes_nobody_read_all_queries_again() {
        let conn = Connection::Sqlite(rusqlite::Connection::open_in_memory().unwrap());
        done(migrations::migrate(&conn, &Arc::from("memory")));
        let sql = "insert into queries (name, text, created_at, changed_at, link_key, \
                   signing_key) values ('a', '', 0, 0, '', '')";
        conn.execute(sql, []).unwrap();
        let (told, slot) = (CountingMatcher::default(), MatcherSlot::default());
        let n_told = Arc::clone(&told.0);
        let ask = || done(slot.with_matcher(&conn, |_| Ok(())));
        done(slot.install(&conn, Box::new(told)));
        slot.applied(false);
        ask();
        slot.applied(false);
        slot.applied(true);
        ask();
        assert_eq!(n_told.load(Ordering::Relaxed), 1, "what was undone had not used");
        slot.applied(true);
        ask();
        assert_eq!(n_told.load(Ordering::Relaxed), 2, "what was undone had used");
    }
}
