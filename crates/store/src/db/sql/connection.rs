//! A connection to one of the two databases.

use super::{DbStatement, Params, Result, Row, SqlError};
use crate::db::postgres::PgConnection;

/// A connection. It belongs to one thread at a time.
pub(crate) enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(Box<PgConnection>),
}

impl Connection {
    /// Prepares a statement, or returns the one that was prepared before.
    pub fn prepare_cached(&self, sql: &str) -> Result<DbStatement<'_>> {
        match self {
            Connection::Sqlite(conn) => Ok(DbStatement::Sqlite(conn.prepare_cached(sql)?)),
            Connection::Postgres(conn) => Ok(DbStatement::Postgres(conn, conn.prepare(sql)?)),
        }
    }

    pub fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare_cached(sql)?.execute(params)
    }

    pub fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.prepare_cached(sql)?.query_row(params, read)
    }

    /// Runs several statements without parameters.
    pub fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Connection::Sqlite(conn) => Ok(conn.execute_batch(sql)?),
            Connection::Postgres(conn) => conn.batch(sql),
        }
    }

    /// Returns whether no transaction is open.
    pub fn is_autocommit(&self) -> bool {
        match self {
            Connection::Sqlite(conn) => conn.is_autocommit(),
            Connection::Postgres(conn) => !conn.is_in_transaction(),
        }
    }

    /// Begins a transaction that only reads. All its statements see the same commit.
    pub fn begin_reading(&self) -> Result<()> {
        match self {
            Connection::Sqlite(conn) => {
                conn.prepare_cached("begin")?.execute([])?;
            }
            Connection::Postgres(conn) => conn.begin_reading(),
        }
        Ok(())
    }

    /// Begins a transaction that reads one moment of some tables, and keeps everybody else from
    /// changing them until it ends. `tables` is a list of names.
    pub fn begin_frozen(&self, tables: &str) -> Result<()> {
        match self {
            // This lock of SQLite covers the whole file. Nothing is written.
            Connection::Sqlite(_) => self.begin_writing(),
            Connection::Postgres(conn) => conn.begin_frozen(tables),
        }
    }

    /// Ends a transaction that only read. A failure loses nothing; the next `begin` reports it.
    pub fn end_reading(&self) {
        match self {
            Connection::Sqlite(conn) => {
                let _ = conn.prepare_cached("commit").and_then(|mut end| end.execute([]));
            }
            Connection::Postgres(conn) => conn.end_reading(),
        }
    }

    /// Begins a transaction that writes.
    pub fn begin_writing(&self) -> Result<()> {
        match self {
            Connection::Sqlite(conn) => {
                conn.prepare_cached("begin immediate")?.execute([])?;
                Ok(())
            }
            Connection::Postgres(conn) => conn.begin_writing(),
        }
    }

    /// Ends the transaction with `commit` or `rollback`, or acts on a savepoint.
    pub fn control(&self, sql: &str) -> Result<()> {
        match self {
            Connection::Sqlite(conn) => {
                conn.prepare_cached(sql)?.execute([])?;
                Ok(())
            }
            Connection::Postgres(conn) => conn.control(sql),
        }
    }

    /// Gives up the locks of a session that ends.
    pub fn release(&self) {
        if let Connection::Postgres(conn) = self {
            conn.release();
        }
    }

    /// Returns whether the connection is lost for good.
    pub fn is_lost(&self) -> bool {
        match self {
            Connection::Sqlite(_) => false,
            Connection::Postgres(conn) => conn.is_closed(),
        }
    }

    pub fn is_postgres(&self) -> bool {
        matches!(self, Connection::Postgres(_))
    }

    /// The connection to SQLite, for work that only SQLite knows.
    pub fn sqlite(&self) -> Result<&rusqlite::Connection> {
        match self {
            Connection::Sqlite(conn) => Ok(conn),
            Connection::Postgres(_) => {
                Err(SqlError::of_kind(crate::ErrorKind::Other, "this works with SQLite only"))
            }
        }
    }

    /// The connection to PostgreSQL, if it is one.
    pub fn postgres(&self) -> Option<&PgConnection> {
        match self {
            Connection::Sqlite(_) => None,
            Connection::Postgres(conn) => Some(conn),
        }
    }
}
