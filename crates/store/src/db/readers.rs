//! A pool of connections for reading. Each sees the last commit and never waits for the writer.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::ErrorKind;
use crate::db::connection;
use crate::db::file_identity::FileIdentity;
use crate::db::off_thread::wait_off_thread;
use crate::db::postgres::{PgAddress, connect};
use crate::db::sql::{Connection, Result, SqlError};

/// Reads of SQLite take microseconds. More connections than cores would only use memory.
const FILE_READERS_MAX: usize = 4;
/// The interval of attempts to reach a server that does not answer.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(300);

/// The database to which further connections are opened.
pub(crate) enum ReaderSource {
    File(PathBuf),
    Postgres(PgAddress),
}

pub(crate) struct ReaderPool {
    source: ReaderSource,
    most: usize,
    pool: Mutex<IdleConnections>,
    returned: Condvar,
    identity: Option<Arc<FileIdentity>>,
}

struct IdleConnections {
    idle: Vec<Connection>,
    n_open: usize,
    /// The last attempt to open a connection failed and none is open, or the server hangs.
    outage: Option<ServerOutage>,
}

/// A server that does not answer. One caller at a time tries it again; all others get the error at
/// once. Otherwise each of them would wait until its own attempt fails.
struct ServerOutage {
    error: SqlError,
    tried_at: Instant,
    is_tried: bool,
}

impl ServerOutage {
    fn new(error: SqlError) -> ServerOutage {
        ServerOutage { error, tried_at: moment(), is_tried: false }
    }
}

impl ReaderPool {
    /// `most` limits the connections to a server.
    pub(crate) fn new(
        source: ReaderSource,
        first: Connection,
        identity: Option<Arc<FileIdentity>>,
        most: usize,
    ) -> ReaderPool {
        let most = match source {
            ReaderSource::File(_) => FILE_READERS_MAX,
            ReaderSource::Postgres(_) => most.max(1),
        };
        let pool = IdleConnections { idle: vec![first], n_open: 1, outage: None };
        ReaderPool { source, most, pool: Mutex::new(pool), returned: Condvar::new(), identity }
    }

    /// Lends a connection to `read`; waits if all are in use. Reads of a server leave the thread of
    /// an async task. Reads of SQLite are shorter than the hand-over.
    pub(crate) fn with<T>(&self, read: impl FnOnce(&Connection) -> T) -> Result<T> {
        match self.source {
            ReaderSource::File(_) => self.lend(read),
            ReaderSource::Postgres(_) => wait_off_thread(|| self.lend(read)),
        }
    }

    fn lend<T>(&self, read: impl FnOnce(&Connection) -> T) -> Result<T> {
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
        let mut failed: Option<SqlError> = None;
        loop {
            if let Some(conn) = pool.idle.pop() {
                if !conn.is_lost() {
                    return Ok(conn);
                }
                pool.n_open -= 1;
                // There is room for another one, or there is nothing left to wait for.
                self.returned.notify_all();
                continue;
            }
            if let Some(outage) = &mut pool.outage {
                if outage.is_tried || moment() < outage.tried_at + TRY_AGAIN_AFTER {
                    return Err(outage.error.clone());
                }
                outage.is_tried = true;
            }
            match &failed {
                None if pool.n_open < self.most => {}
                // Another connection is optional: while others are in use, this thread waits for
                // one of them.
                Some(error) if pool.n_open == 0 => return Err(error.clone()),
                _ => {
                    pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            }
            pool.n_open += 1;
            drop(pool);
            let opened = self.open();
            pool = self.lock();
            match opened {
                Ok(conn) => {
                    pool.outage = None;
                    return Ok(conn);
                }
                Err(error) => {
                    pool.n_open -= 1;
                    pool.note_failure(&error);
                    failed = Some(error);
                    // The others that wait may be waiting for this very connection.
                    self.returned.notify_all();
                }
            }
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

    fn lock(&self) -> std::sync::MutexGuard<'_, IdleConnections> {
        // The pool is a list of idle connections. A panic elsewhere cannot damage it.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IdleConnections {
    /// Remembers that a server does not answer, if no connection to it is left or it hung before.
    fn note_failure(&mut self, error: &SqlError) {
        let is_away = self.n_open == 0 || self.outage.is_some();
        self.outage = (is_away && error.kind() == ErrorKind::Unreachable)
            .then(|| ServerOutage::new(error.clone()));
    }
}

#[expect(clippy::disallowed_methods, reason = "paces attempts to reach a server in real time")]
fn moment() -> Instant {
    Instant::now()
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
        let is_lost = self.conn.as_ref().is_some_and(Connection::is_lost);
        let hangs = self.conn.as_ref().and_then(|conn| conn.postgres()?.gave_up());
        pool.idle.extend(self.conn.take());
        pool.outage = if is_lost { pool.outage.take() } else { None };
        if is_lost {
            // The others are probably lost too, and each would take its time to notice.
            pool.n_open -= pool.idle.len();
            pool.idle.clear();
        }
        if let Some(error) = hangs {
            pool.outage = Some(ServerOutage::new(error));
        }
        drop(pool);
        if is_lost {
            self.readers.returned.notify_all();
        } else {
            self.readers.returned.notify_one();
        }
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
            1,
        );
        std::fs::rename(&path, folder.path().join("elsewhere.db")).unwrap();
        let ask = |conn: &Connection| conn.query_row("select 1", [], |row| row.get::<_, i64>(0));
        std::thread::scope(|scope| {
            let asked = readers.with(|_| {
                let asked = scope.spawn(|| readers.with(ask));
                // Long enough to find no idle connection and no file to open.
                std::thread::sleep(Duration::from_millis(50));
                asked
            });
            assert_eq!(asked.unwrap().join().unwrap().unwrap().unwrap(), 1);
        });
        readers.close();
        assert!(readers.with(ask).is_err(), "with none lent there is nothing to wait for");
    }
}
