//! Connections for reading, lent one at a time. They see the last commit and never wait for the
//! writer.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

use rusqlite::Connection;

use crate::connection;

/// Reads take microseconds; more connections than cores that could use them only hold memory.
const READERS_MAX: usize = 4;

pub(crate) struct Readers {
    path: PathBuf,
    pool: Mutex<Pool>,
    returned: Condvar,
}

struct Pool {
    idle: Vec<Connection>,
    n_open: usize,
}

impl Readers {
    pub(crate) fn new(path: &Path, first: Connection) -> Readers {
        let pool = Mutex::new(Pool { idle: vec![first], n_open: 1 });
        Readers { path: path.to_owned(), pool, returned: Condvar::new() }
    }

    /// Lends a connection; waits for one where all are lent.
    pub(crate) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> T,
    ) -> Result<T, rusqlite::Error> {
        let lent = Lent { conn: Some(self.take()?), readers: self };
        // `Some` until dropped.
        lent.conn.as_ref().map(read).ok_or(rusqlite::Error::InvalidQuery)
    }

    /// Closes those that are not lent. The writer must be the last to close: only a connection
    /// that may write can fold the log into the file.
    pub(crate) fn close(&self) {
        let mut pool = self.lock();
        pool.n_open -= pool.idle.len();
        pool.idle.clear();
    }

    fn take(&self) -> Result<Connection, rusqlite::Error> {
        let mut pool = self.lock();
        loop {
            if let Some(conn) = pool.idle.pop() {
                return Ok(conn);
            }
            if pool.n_open < READERS_MAX {
                pool.n_open += 1;
                drop(pool);
                return connection::reading(&self.path).inspect_err(|_| self.lock().n_open -= 1);
            }
            pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Pool> {
        // The pool is a list of idle connections: a panic elsewhere leaves it whole.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives the connection back also when the reader panics, or the pool would run dry.
struct Lent<'a> {
    conn: Option<Connection>,
    readers: &'a Readers,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.lock();
        pool.idle.extend(self.conn.take());
        drop(pool);
        self.readers.returned.notify_one();
    }
}
