//! A pool of connections for reading. Each sees the last commit and never waits for the writer.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::ErrorKind;
use crate::db::connection;
use crate::db::file_identity::FileIdentity;
use crate::db::postgres::{PgAddress, connect};
use crate::db::sql::{Connection, Result, SqlError};

/// Reads of SQLite take microseconds. More connections than cores would only use memory.
const FILE_READERS_MAX: usize = 4;
/// Reads of PostgreSQL wait for the network most of the time.
const SERVER_READERS_MAX: usize = 8;

/// The database to which further connections are opened.
pub(crate) enum ReaderSource {
    File(PathBuf),
    Postgres(PgAddress),
}

pub(crate) struct ReaderPool {
    source: ReaderSource,
    pool: Mutex<IdleConnections>,
    returned: Condvar,
    identity: Option<Arc<FileIdentity>>,
}

struct IdleConnections {
    idle: Vec<Connection>,
    n_open: usize,
}

impl ReaderPool {
    pub(crate) fn new(
        source: ReaderSource,
        first: Connection,
        identity: Option<Arc<FileIdentity>>,
    ) -> ReaderPool {
        let pool = Mutex::new(IdleConnections { idle: vec![first], n_open: 1 });
        ReaderPool { source, pool, returned: Condvar::new(), identity }
    }

    /// Lends a connection to `read`; waits if all are in use.
    pub(crate) fn with<T>(&self, read: impl FnOnce(&Connection) -> T) -> Result<T> {
        let lent = LentConnection { conn: Some(self.take()?), readers: self };
        // `Some` until dropped.
        lent.conn.as_ref().map(read).ok_or(SqlError::NoRow)
    }

    /// Closes the idle connections. The writer must close last: only a connection that may write
    /// can move the log into the file.
    pub(crate) fn close(&self) {
        let mut pool = self.lock();
        pool.n_open -= pool.idle.len();
        pool.idle.clear();
    }

    fn take(&self) -> Result<Connection> {
        let mut pool = self.lock();
        let mut may_open = true;
        loop {
            if let Some(conn) = pool.idle.pop() {
                if !conn.is_lost() {
                    return Ok(conn);
                }
                pool.n_open -= 1;
                continue;
            }
            if may_open && pool.n_open < self.most() {
                pool.n_open += 1;
                drop(pool);
                let opened = self.open();
                if opened.is_ok() {
                    return opened;
                }
                pool = self.lock();
                pool.n_open -= 1;
                if pool.n_open == 0 {
                    return opened;
                }
                // Another connection is optional: while others are in use, this thread waits for
                // one of them.
                may_open = false;
                continue;
            }
            pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Opens a connection. Never opens a file that replaced the open one: it contains other rows.
    fn open(&self) -> Result<Connection> {
        let conn = match &self.source {
            ReaderSource::File(path) => connection::reading(path)?,
            ReaderSource::Postgres(address) => return connect::reading(address),
        };
        match self.identity.as_ref().map(|identity| identity.check()) {
            Some(Err(error)) => Err(SqlError::of_kind(ErrorKind::Other, error.to_string())),
            _ => Ok(conn),
        }
    }

    fn most(&self) -> usize {
        match self.source {
            ReaderSource::File(_) => FILE_READERS_MAX,
            ReaderSource::Postgres(_) => SERVER_READERS_MAX,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, IdleConnections> {
        // The pool is a list of idle connections. A panic elsewhere cannot damage it.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection in use. It returns to the pool even if the reader panics; otherwise the pool would
/// run out of connections.
struct LentConnection<'a> {
    conn: Option<Connection>,
    readers: &'a ReaderPool,
}

impl Drop for LentConnection<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.lock();
        pool.idle.extend(self.conn.take());
        drop(pool);
        self.readers.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_more_can_be_opened_one_that_is_lent_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        drop(connection::writing(&path).unwrap());
        let readers = ReaderPool::new(
            ReaderSource::File(path.clone()),
            connection::reading(&path).unwrap(),
            None,
        );
        std::fs::rename(&path, folder.path().join("elsewhere.db")).unwrap();
        let ask = |conn: &Connection| conn.query_row("select 1", [], |row| row.get::<_, i64>(0));
        std::thread::scope(|scope| {
            let asked = readers.with(|_| {
                let asked = scope.spawn(|| readers.with(ask));
                // Long enough to find no idle connection and no file to open.
                std::thread::sleep(std::time::Duration::from_millis(50));
                asked
            });
            assert_eq!(asked.unwrap().join().unwrap().unwrap().unwrap(), 1);
        });
        readers.close();
        assert!(readers.with(ask).is_err(), "with none lent there is nothing to wait for");
    }
}
