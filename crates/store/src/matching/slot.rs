//! Holds the installed matcher. After a rollback of a change that the matcher has seen, it loads
//! the matcher again from the stored queries.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::{Keeps, load};
use crate::StoreError;
use crate::db::writer::WriteObserver;
use crate::error::Fault;

/// Turns a panic of the caller's function into an error.
pub(crate) fn guarded<T>(ask: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| Err(StoreError::Matching.into()))
}

/// How the memory of the matcher relates to the stored state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// Equal to the last commit.
    #[default]
    Sound,
    /// Ahead of the last commit.
    Ahead,
    /// A change that it has seen was undone.
    Stale,
}

/// The installed matcher, if there is one. Only the writer thread takes the lock, so that no thread
/// waits for the writer while it has the lock.
#[derive(Default)]
pub(crate) struct Keeper(Mutex<Slot>);

#[derive(Default)]
struct Slot {
    keeps: Option<Box<dyn Keeps>>,
    standing: Standing,
    /// Whether the current job has used the matcher.
    asked: bool,
}

impl Keeper {
    pub fn install(&self, conn: &Connection, mut keeps: Box<dyn Keeps>) -> Result<(), Fault> {
        load(conn, &mut *keeps, true)?;
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Slot { keeps: Some(keeps), standing: Standing::Ahead, asked: true };
        Ok(())
    }

    /// Calls a function with the matcher, after loading it again if necessary. `None` means that no
    /// matcher is installed. A panic makes only this job fail.
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
            load(conn, &mut **keeps, true)?;
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

    /// A commit or a rollback changes the state only if the matcher was ahead of the last commit.
    fn turn(&self, to: Standing) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.standing == Standing::Ahead {
            slot.standing = to;
        }
    }
}

impl WriteObserver for Keeper {
    /// A failed job is undone alone. The matcher is stale only if that job has used it.
    fn applied(&self, failed: bool) {
        let asked = {
            let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut slot.asked)
        };
        if failed && asked {
            self.undone();
        }
    }

    fn committed(&self) {
        self.turn(Standing::Sound);
    }

    fn undone(&self) {
        self.turn(Standing::Stale);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::db::migrations;
    use crate::matching::{Arrival, Kept, QueryId, Share, StateChange};

    /// Counts how often a query is loaded.
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
