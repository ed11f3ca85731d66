//! The seat: exactly one process records. Its writing session holds a lock of the database, so a
//! process that loses the session can write no more. An epoch tells the holders apart.

use std::sync::Arc;
use std::time::Duration;

use super::outcome::TRANSACTION;
use super::signals::{self, Signal};
use super::{PgAddress, PgConnection, connect};
use crate::db::migrations;
use crate::db::sql::{Connection, OptionalExtension, Row, Value, params};
use crate::error::DbError;
use crate::{OpenMode, StoreError};

/// The oldest server that is supported.
const SERVER_VERSION_MIN: i64 = 150_000;

/// The clock of the database in milliseconds. The clocks of the processes do not matter.
pub(crate) const NOW: &str = "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";

/// The key of the lock. It depends on the schema, so that several instances can share a database.
const LOCK_KEY: &str = "hashtextextended('tidings ' || current_schema(), 0)";

/// The key in `meta` of the previous holder's epoch and last transaction. The row of the seat shows
/// those of the present holder.
pub(super) const PREVIOUS_HOLDER_KEY: &str = "previous holder";

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
    let opened = match mode {
        OpenMode::ReadWrite => connect::writing(address),
        OpenMode::Shared | OpenMode::ReadOnly => connect::guest(address),
    };
    let conn = opened.map_err(|e| StoreError::database(file, e))?;
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
    match set_up() {
        Ok(epoch) => Ok(Seated { conn, epoch }),
        Err(fault) => {
            conn.release();
            Err(fault.at(file))
        }
    }
}

/// Refuses a server that is too old, a database that cannot hold every text, and an address without
/// a schema.
pub(crate) fn check_server(conn: &Connection, file: &Arc<str>) -> Result<(), DbError> {
    let sql = "select current_setting('server_version_num')::bigint, \
               current_setting('server_version'), current_setting('server_encoding')";
    let (number, version, encoding): (i64, String, String) =
        conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let sql = "select current_schema()::text, current_setting('search_path'), current_user::text";
    let (schema, path, role): (Option<String>, String, String) =
        conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let unfit = |what: String| StoreError::Unfit { file: Arc::clone(file), what };
    if number < SERVER_VERSION_MIN {
        return Err(unfit(format!("PostgreSQL {version} is too old; 15 or later is needed")).into());
    }
    if encoding != "UTF8" {
        let what = format!("its encoding is {encoding}; create a database with encoding UTF8");
        return Err(unfit(what).into());
    }
    if schema.is_none() {
        let what = format!(
            "its search path ({path}) names no schema that exists and that role {role} may use; \
             create one: create schema NAME authorization {role}"
        );
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
    Err(seat_taken(conn, file).into())
}

fn seat_taken(conn: &Connection, file: &Arc<str>) -> StoreError {
    let holder = conn
        .query_row("select holder from seat", [], |row| row.get::<_, Option<String>>(0))
        .optional();
    // A new database has no such table yet.
    let holder = holder.ok().flatten().flatten().unwrap_or_else(|| "another process".to_owned());
    StoreError::SeatTaken { file: Arc::clone(file), holder: Arc::from(holder) }
}

/// Returns if the seat is free, or says who has it. Ends the session of a holder that was silent
/// for so long, and says whether there was one. The schema may have any version.
pub(crate) fn make_free(
    conn: &Connection,
    file: &Arc<str>,
    silence: Duration,
) -> Result<bool, DbError> {
    if !is_taken(conn)? {
        return Ok(false);
    }
    // A new database has no row of the seat yet.
    if any_row(conn).is_ok() && unseat(conn, silence)? && !is_taken(conn)? {
        return Ok(true);
    }
    Err(seat_taken(conn, file).into())
}

/// Begins a new epoch and returns it.
fn begin_epoch(conn: &Connection) -> Result<i64, DbError> {
    conn.begin_writing()?;
    // The previous holder may still ask for the outcome of its last commit.
    let sql = "insert into meta (key, value) \
               select $1, concat_ws(' ', epoch, xmin) from seat where epoch > 0 \
               on conflict (key) do update set value = excluded.value";
    conn.execute(sql, [PREVIOUS_HOLDER_KEY])?;
    let sql = format!(
        "update seat set epoch = epoch + 1, holder = $1, backend = pg_backend_pid(), \
         beat = {NOW}, figures = null returning epoch"
    );
    let host = host_name().unwrap_or_else(|| "this machine".to_owned());
    let name = format!("process {} on {host}", std::process::id());
    let epoch = conn.query_row(&sql, params![name], |row| row.get(0))?;
    conn.execute("update stream set epoch = $1", [epoch])?;
    conn.control("commit")?;
    Ok(epoch)
}

/// The name of this machine; `None` if it has none. A service manager may hide the files that
/// contain it.
pub fn host_name() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().trim().to_owned();
    (!name.is_empty()).then_some(name)
}

/// The state of a transaction shortly before its commit.
pub(crate) struct Beat {
    /// A text that names it, by which its outcome can be found out.
    pub transaction: String,
    /// The last entry of the stream, if this process records.
    pub last_entry: Option<i64>,
}

/// Shows a sign of life inside the transaction, and proves that this process still has the seat.
pub(crate) fn beat(conn: &Connection, epoch: Option<i64>) -> Result<Beat, DbError> {
    let Some(epoch) = epoch else {
        let sql = format!("select {TRANSACTION}");
        let transaction = conn.query_row(&sql, [], |row| row.get(0))?;
        return Ok(Beat { transaction, last_entry: None });
    };
    let sql = format!(
        "update seat set beat = {NOW} where epoch = $1 \
         returning {TRANSACTION}, (select last_entry from stream)"
    );
    let beat = conn.query_row(&sql, [epoch], |row| {
        Ok(Beat { transaction: row.get(0)?, last_entry: row.get(1)? })
    });
    beat.optional()?.ok_or_else(|| StoreError::SeatLost { epoch }.into())
}

/// Shows a sign of life, proves that this process still has the seat, and commits, in one round
/// trip. Announces new entries if the last one is not `announced`. Returns the last entry.
pub(crate) fn beat_and_commit(
    conn: &PgConnection,
    epoch: i64,
    announced: Option<i64>,
) -> Result<i64, DbError> {
    // Without the seat the statement must fail, because the commit is on its way already.
    let sql = format!(
        "with mine as (update seat set beat = {NOW} where epoch = $1 returning 1) \
         select last_entry / (select count(*) from mine), \
         case when last_entry is distinct from $2 then {} end from stream",
        signals::notify(Signal::Entries)
    );
    let values = [Value::Int(epoch), announced.map_or(Value::Null, Value::Int)];
    let committed = conn.commit_after(&sql, &values);
    let row = committed.map_err(|error| match error.is_division_by_zero() {
        true => DbError::from(StoreError::SeatLost { epoch }),
        false => DbError::from(error),
    })?;
    Ok(Row::Postgres { row: &row, first: 0 }.get(0)?)
}

/// The longest wait for the end of a session, in milliseconds. The server ends it at once, unless
/// its machine is busy.
const END_WITHIN_MS: i64 = 1000;

/// Ends the session of a holder that has shown no sign of life for so long, and waits for its end.
/// Returns whether there was one.
///
/// A large change may take longer than that, and its sign of life comes with the commit. So the
/// state of the session counts too. A process is alive if the server works for it, or if it has
/// sent a statement lately. A server does not work for a process that must read an answer first.
fn unseat(conn: &Connection, silence: Duration) -> Result<bool, DbError> {
    let sql = format!(
        "select pg_terminate_backend(a.pid, {END_WITHIN_MS}) from pg_stat_activity a, seat s \
         where a.pid = s.backend and a.datname = current_database() and s.beat < {NOW} - $1 \
         and (a.state = 'active' and a.wait_event_type is distinct from 'Client') is not true \
         and (extract(epoch from a.state_change) * 1000 >= {NOW} - $1) is not true"
    );
    let silence = i64::try_from(silence.as_millis()).unwrap_or(i64::MAX);
    Ok(conn.prepare_cached(&sql)?.exists([silence])?)
}

/// Returns whether a server is new enough, by its number.
pub(crate) fn is_supported(version: i64) -> bool {
    version >= SERVER_VERSION_MIN
}

/// Returns whether a process holds the lock of the seat.
pub(crate) fn is_taken(conn: &Connection) -> Result<bool, DbError> {
    // The catalogue shows the halves of the key.
    let sql = format!(
        "select exists (select 1 from pg_catalog.pg_locks l, (select {LOCK_KEY} as key) k \
         where l.locktype = 'advisory' and l.objsubid = 1 and l.granted \
         and l.database = (select oid from pg_catalog.pg_database \
                           where datname = current_database()) \
         and l.classid::bigint = (k.key >> 32) & 4294967295 \
         and l.objid::bigint = k.key & 4294967295)"
    );
    Ok(conn.query_row(&sql, [], |row| row.get(0))?)
}

/// Reads the row of the seat, whatever the version of the schema is.
pub(crate) fn any_row(conn: &Connection) -> Result<SeatRow, DbError> {
    let sql = format!("select epoch, holder, {NOW} - beat, figures from seat");
    Ok(conn.query_row(&sql, [], seat_row)?)
}

/// Reads the row of the seat. Refuses a database that a newer program has taken over.
pub(crate) fn row(conn: &Connection, file: &Arc<str>) -> Result<SeatRow, DbError> {
    let sql = format!(
        "select epoch, holder, {NOW} - beat, figures, \
         (select cast(value as bigint) from meta where key = 'version') from seat"
    );
    let (row, version) = conn.query_row(&sql, [], |row| Ok((seat_row(row)?, row.get(4)?)))?;
    migrations::refuse_newer(version, file)?;
    Ok(row)
}

fn seat_row(row: &Row<'_>) -> crate::db::sql::Result<SeatRow> {
    let silent_ms: i64 = row.get(2)?;
    Ok(SeatRow {
        epoch: row.get(0)?,
        holder: row.get(1)?,
        silent_for: Duration::from_millis(silent_ms.max(0).unsigned_abs()),
        figures: row.get(3)?,
    })
}

/// Drops the tables of a store, under the lock of the seat. Refuses a schema with other tables.
pub(crate) fn wipe(address: &PgAddress, file: &Arc<str>) -> Result<(), DbError> {
    let conn = connect::writing(address)?;
    let dropped = check_server(&conn, file)
        .and_then(|()| take(&conn, file))
        .and_then(|()| drop_tables(&conn, file));
    conn.release();
    dropped
}

fn drop_tables(conn: &Connection, file: &Arc<str>) -> Result<(), DbError> {
    let sql = "select tablename::text from pg_catalog.pg_tables \
               where schemaname = current_schema() order by 1";
    let mut statement = conn.prepare_cached(sql)?;
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let ours = migrations::table_names(conn);
    let foreign: Vec<&str> =
        tables.iter().filter(|name| !ours.contains(*name)).map(String::as_str).collect();
    if !foreign.is_empty() {
        let what = format!(
            "it has tables of another program ({}); use an empty database or schema",
            foreign.join(", ")
        );
        return Err(StoreError::Unfit { file: Arc::clone(file), what }.into());
    }
    if !tables.is_empty() {
        // Without `cascade`, PostgreSQL refuses if something else depends on them.
        conn.execute_batch(&format!("drop table {}", tables.join(", ")))?;
    }
    Ok(())
}
