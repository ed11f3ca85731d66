//! Opens both ends of a migration. Each end holds the lock that keeps daemons away: the lock of
//! the data folder, or the seat of the PostgreSQL database.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::tables::CopiedTable;
use super::{MigrationError, marker};
use crate::db::lock::{Lock, lock};
use crate::db::postgres::{PgAddress, connect, seat};
use crate::db::sql::{Connection, SqlError};
use crate::db::{FILE_NAME, connection, dialect, migrations};
use crate::error::{DbError, shown};
use crate::{Location, StoreError};

/// A migration may read one side for a long time while a transaction waits on the other side.
const SESSION: &str = "set idle_in_transaction_session_timeout = 0; set statement_timeout = 0";

/// How often, and after which time, a seat that is taken is tried again.
const SEAT_TRIES: u32 = 10;
const SEAT_WAIT: Duration = Duration::from_millis(200);

/// One end of a migration.
pub(super) struct MigrationEnd {
    pub conn: Connection,
    /// The name for errors.
    pub name: Arc<str>,
    /// The whole read happens in one transaction, which is open already.
    is_frozen: bool,
    /// The version of the schema of a source.
    pub version: i64,
    /// Released after the connection is closed.
    _lock: Option<Lock>,
}

/// Opens the store that is copied.
pub(super) fn open_source(location: &Location) -> Result<MigrationEnd, MigrationError> {
    let name = location.shown();
    let missing = || StoreError::Unfit {
        file: Arc::clone(&name),
        what: "it holds no store; check the place that --from names".to_owned(),
    };
    let mut end = match location {
        Location::Folder(folder) => {
            let path = folder.join(FILE_NAME);
            if !path.exists() {
                return Err(missing().into());
            }
            let lock = lock(folder)?;
            let conn = connection::sharing(&path).map_err(|e| StoreError::database(&name, e))?;
            MigrationEnd::new(conn, Arc::clone(&name), Some(lock))
        }
        Location::Postgres(address) => open_database(address, &name)?,
    };
    let version = migrations::version(&end.conn, &name).map_err(|fault| fault.at(&name))?;
    if version.is_none() {
        return Err(missing().into());
    }
    let known = migrations::known_version(&end.conn, &name);
    end.version = known.map_err(|fault| fault.at(&name))?;
    Ok(end)
}

/// Opens the place that is filled.
pub(super) fn open_target(location: &Location) -> Result<MigrationEnd, MigrationError> {
    let name = location.shown();
    match location {
        Location::Folder(folder) => {
            make_folder(folder)?;
            let lock = lock(folder)?;
            let path = folder.join(FILE_NAME);
            let conn = connection::writing(&path).map_err(|e| StoreError::database(&name, e))?;
            Ok(MigrationEnd::new(conn, name, Some(lock)))
        }
        Location::Postgres(address) => Ok(open_database(address, &name)?),
    }
}

fn make_folder(folder: &Path) -> Result<(), StoreError> {
    std::fs::create_dir_all(folder)
        .map_err(|e| StoreError::Folder { folder: shown(folder), detail: Arc::from(e.to_string()) })
}

fn open_database(address: &PgAddress, name: &Arc<str>) -> Result<MigrationEnd, StoreError> {
    let conn = connect::writing(address).map_err(|e| StoreError::database(name, e))?;
    let set_up = || -> Result<(), DbError> {
        conn.execute_batch(SESSION)?;
        seat::check_server(&conn, name)?;
        take_seat(&conn, name)
    };
    set_up().map_err(|fault| fault.at(name))?;
    Ok(MigrationEnd::new(conn, Arc::clone(name), None))
}

/// Takes the seat. A run that was killed just now may still hold it: its session ends when the
/// server notices.
fn take_seat(conn: &Connection, name: &Arc<str>) -> Result<(), DbError> {
    for _ in 0..SEAT_TRIES {
        match seat::take(conn, name) {
            Err(DbError::Ours(StoreError::SeatTaken { .. })) => std::thread::sleep(SEAT_WAIT),
            taken => return taken,
        }
    }
    seat::take(conn, name)
}

impl Drop for MigrationEnd {
    fn drop(&mut self) {
        self.conn.release();
    }
}

impl MigrationEnd {
    fn new(conn: Connection, name: Arc<str>, lock: Option<Lock>) -> MigrationEnd {
        MigrationEnd { conn, name, is_frozen: false, version: 0, _lock: lock }
    }

    /// Fixes the moment that is copied. Nobody can write until the migration ends.
    ///
    /// An older schema is updated inside the transaction, which is never committed. So the copy is
    /// read in the form of this program, and the source stays as it is.
    pub fn freeze(&mut self) -> Result<(), StoreError> {
        let freeze = || -> Result<(), DbError> {
            let tables = dialect::table_names(&self.conn)?;
            self.conn.begin_frozen(&tables)?;
            if self.is_older() {
                migrations::update_uncommitted(&self.conn, &self.name)?;
            }
            Ok(())
        };
        freeze().map_err(|fault| self.fault(fault))?;
        self.is_frozen = true;
        Ok(())
    }

    /// Returns whether an older program has written the source.
    pub fn is_older(&self) -> bool {
        self.version < migrations::current_version()
    }

    /// Runs a function in a transaction that reads. The source is in one all the time.
    pub fn table_rows<T, E: From<SqlError>>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.is_frozen {
            return read(&self.conn);
        }
        self.conn.begin_reading()?;
        let done = read(&self.conn);
        self.conn.end_reading();
        done
    }

    /// The same, with errors that name the place.
    pub fn reading<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, StoreError> {
        self.table_rows(read).map_err(|fault| self.fault(fault))
    }

    pub fn fault(&self, fault: impl Into<DbError>) -> StoreError {
        fault.into().at(&self.name)
    }

    /// An error that also names the table.
    pub fn table_fault(&self, table: &CopiedTable, error: &SqlError) -> StoreError {
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(inner) = cause {
            text = format!("{text}: {inner}");
            cause = inner.source();
        }
        let named = SqlError::of_kind(error.kind(), format!("table {}: {text}", table.name));
        StoreError::database(&self.name, named)
    }

    /// Makes a verified target a store that programs may open.
    pub fn finish(&self, tables: &[CopiedTable]) -> Result<(), StoreError> {
        let names = tables.iter().map(|table| table.name.as_str());
        let finish = || -> Result<(), DbError> {
            dialect::after_filling(&self.conn, names)?;
            marker::remove(&self.conn)?;
            Ok(())
        };
        finish().map_err(|fault| self.fault(fault))
    }
}
