//! The seat: exactly one process records. Its writing session holds a lock of the database, so a
//! process that loses the session can write no more. An epoch tells the holders apart.

use std::sync::Arc;
use std::time::Duration;

use super::{PgAddress, connect};
use crate::db::migrations;
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::{OpenMode, StoreError};

/// The oldest server that is supported.
const SERVER_VERSION_MIN: i64 = 150_000;

/// The clock of the database in milliseconds. The clocks of the processes do not matter.
const NOW: &str = "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";

/// The key of the lock. It depends on the schema, so that several instances can share a database.
const LOCK_KEY: &str = "hashtextextended('tidings ' || current_schema(), 0)";

/// A connection that writes, and the epoch that it holds.
pub(crate) struct Seated {
    pub conn: Connection,
    /// `None`: a guest, which may write only rows of one person and requests.
    pub epoch: Option<i64>,
}

/// The holder of the seat, as other processes see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatRow {
    pub epoch: i64,
    /// The name of the process.
    pub holder: Option<String>,
    /// The time since its last sign of life, by the clock of the database.
    pub silent_for: Duration,
    /// Its figures, as JSON.
    pub figures: Option<String>,
}

/// Opens the connection that writes. With [`OpenMode::ReadWrite`] it takes the seat first, and
/// migrates the schema.
pub(crate) fn open(
    address: &PgAddress,
    file: &Arc<str>,
    mode: OpenMode,
) -> Result<Seated, StoreError> {
    let conn = connect::writing(address).map_err(|e| StoreError::database(file, e))?;
    let set_up = || -> Result<Option<i64>, DbError> {
        check_server(&conn, file)?;
        if mode == OpenMode::ReadWrite {
            take(&conn, file)?;
            migrations::migrate(&conn, file)?;
            begin_epoch(&conn).map(Some)
        } else {
            migrations::require_current(&conn, file)?;
            Ok(None)
        }
    };
    let epoch = set_up().map_err(|fault| fault.at(file))?;
    Ok(Seated { conn, epoch })
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

/// Begins a new epoch and returns it.
fn begin_epoch(conn: &Connection) -> Result<i64, DbError> {
    conn.begin_writing()?;
    let sql = format!(
        "update seat set epoch = epoch + 1, holder = $1, backend = pg_backend_pid(), \
         beat = {NOW}, figures = null returning epoch"
    );
    let name = format!("process {} on {}", std::process::id(), host());
    let epoch = conn.query_row(&sql, params![name], |row| row.get(0))?;
    conn.execute("update stream set epoch = $1", [epoch])?;
    conn.control("commit")?;
    Ok(epoch)
}

/// The name of this machine, for people.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "this machine".to_owned() } else { name.to_owned() }
}

/// Shows a sign of life inside the transaction, and proves that this process still has the seat.
/// Returns the number of the transaction, by which its outcome can be found out.
pub(crate) fn beat(conn: &Connection, epoch: Option<i64>) -> Result<String, DbError> {
    let Some(epoch) = epoch else {
        let sql = "select pg_current_xact_id()::text";
        return Ok(conn.query_row(sql, [], |row| row.get(0))?);
    };
    let sql = format!(
        "update seat set beat = {NOW} where epoch = $1 returning pg_current_xact_id()::text"
    );
    let number = conn.query_row(&sql, [epoch], |row| row.get(0)).optional()?;
    number.ok_or_else(|| StoreError::SeatLost { epoch }.into())
}

/// Finds out whether a transaction was committed whose answer was lost. Waits until the server
/// answers, for `patience` at most.
#[expect(clippy::disallowed_methods, reason = "waits for a server in real time")]
pub(crate) fn was_committed(
    address: &PgAddress,
    transaction: &str,
    patience: Duration,
) -> Option<bool> {
    let begun = std::time::Instant::now();
    while begun.elapsed() < patience {
        if let Ok(Some(outcome)) = ask_outcome(address, transaction) {
            return Some(outcome);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    None
}

/// Asks once. `None` means that the transaction is still open: its session is ended.
fn ask_outcome(address: &PgAddress, transaction: &str) -> Result<Option<bool>, DbError> {
    let conn = connect::writing(address)?;
    let sql = "select pg_xact_status($1::text::xid8)";
    let status: Option<String> = conn.query_row(sql, [transaction], |row| row.get(0))?;
    match status.as_deref() {
        Some("committed") => Ok(Some(true)),
        Some("in progress") => {
            let sql = "select pg_terminate_backend(pid) from pg_stat_activity \
                       where backend_xid = $1::text::xid8::xid and pid <> pg_backend_pid()";
            conn.prepare_cached(sql)?.exists([transaction])?;
            Ok(None)
        }
        _ => Ok(Some(false)),
    }
}

/// Ends the session of a holder that has shown no sign of life for so long. Returns whether there
/// was one.
pub(crate) fn unseat(address: &PgAddress, silence: Duration) -> Result<bool, DbError> {
    let conn = connect::writing(address)?;
    let sql = format!(
        "select pg_terminate_backend(a.pid) from pg_stat_activity a, seat s \
         where a.pid = s.backend and a.datname = current_database() and s.beat < {NOW} - $1"
    );
    let silence = i64::try_from(silence.as_millis()).unwrap_or(i64::MAX);
    Ok(conn.prepare_cached(&sql)?.exists([silence])?)
}

/// Reads the row of the seat.
pub(crate) fn row(conn: &Connection) -> Result<SeatRow, DbError> {
    let sql = format!("select epoch, holder, {NOW} - beat, figures from seat");
    Ok(conn.query_row(&sql, [], |row| {
        let silent_ms: i64 = row.get(2)?;
        Ok(SeatRow {
            epoch: row.get(0)?,
            holder: row.get(1)?,
            silent_for: Duration::from_millis(silent_ms.max(0).unsigned_abs()),
            figures: row.get(3)?,
        })
    })?)
}

/// Drops all tables of the schema, under the lock of the seat.
pub(crate) fn wipe(address: &PgAddress, file: &Arc<str>) -> Result<(), DbError> {
    let conn = connect::writing(address)?;
    take(&conn, file)?;
    let sql = "select quote_ident(tablename) from pg_catalog.pg_tables \
               where schemaname = current_schema()";
    let mut statement = conn.prepare_cached(sql)?;
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    if !tables.is_empty() {
        conn.execute_batch(&format!("drop table {} cascade", tables.join(", ")))?;
    }
    Ok(())
}
