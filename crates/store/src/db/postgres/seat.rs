//! The seat: exactly one process records. Its writing session holds a lock of the database, so a
//! process that loses the session can write no more. An epoch tells the holders apart.

use std::sync::Arc;

use super::{PgAddress, connect};
use crate::db::migrations;
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::{OpenMode, StoreError};

/// The oldest server that is supported.
const SERVER_VERSION_MIN: i64 = 150_000;

/// Opens the connection that writes. With [`OpenMode::ReadWrite`] it takes the seat first, and
/// migrates the schema.
pub(crate) fn open(
    address: &PgAddress,
    file: &Arc<str>,
    mode: OpenMode,
) -> Result<Connection, StoreError> {
    let conn = connect::writing(address).map_err(|e| StoreError::database(file, e))?;
    let set_up = || -> Result<(), DbError> {
        check_server(&conn, file)?;
        if mode == OpenMode::ReadWrite {
            take(&conn, file)?;
            migrations::migrate(&conn, file)?;
            begin_epoch(&conn)
        } else {
            migrations::require_current(&conn, file)
        }
    };
    set_up().map_err(|fault| fault.at(file))?;
    Ok(conn)
}

/// Refuses a server that is too old, and a database that cannot hold every text.
pub(crate) fn check_server(conn: &Connection, file: &Arc<str>) -> Result<(), DbError> {
    let sql = "select current_setting('server_version_num')::bigint, \
               current_setting('server_version'), current_setting('server_encoding')";
    let (number, version, encoding): (i64, String, String) =
        conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let unfit = |what: String| StoreError::Unfit { file: Arc::clone(file), what };
    if number < SERVER_VERSION_MIN {
        return Err(unfit(format!("PostgreSQL {version} is too old; 15 or later is needed")).into());
    }
    if encoding != "UTF8" {
        let what = format!("its encoding is {encoding}; create a database with encoding UTF8");
        return Err(unfit(what).into());
    }
    Ok(())
}

/// The key of the lock. It depends on the schema, so that several instances can share a database.
const LOCK_KEY: &str = "hashtextextended('tidings ' || current_schema(), 0)";

/// Takes the lock, or says who has it.
pub(crate) fn take(conn: &Connection, file: &Arc<str>) -> Result<(), DbError> {
    let sql = format!("select pg_try_advisory_lock({LOCK_KEY})");
    let taken: bool = conn.query_row(&sql, [], |row| row.get(0))?;
    if taken {
        return Ok(());
    }
    let holder = conn
        .query_row("select holder from seat", [], |row| row.get::<_, Option<String>>(0))
        .optional();
    // A new database has no such table yet.
    let holder = holder.ok().flatten().flatten().unwrap_or_else(|| "another process".to_owned());
    Err(StoreError::SeatTaken { file: Arc::clone(file), holder: Arc::from(holder) }.into())
}

/// Begins a new epoch.
fn begin_epoch(conn: &Connection) -> Result<(), DbError> {
    conn.begin_writing()?;
    let sql = "update seat set epoch = epoch + 1, holder = $1, backend = pg_backend_pid(), \
               beat = cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";
    conn.execute(sql, params![format!("process {}", std::process::id())])?;
    conn.execute("update stream set epoch = (select epoch from seat)", [])?;
    conn.control("commit")?;
    Ok(())
}
