//! The highest numbers that the database has given to new rows, also after the rows are deleted.

use rusqlite::{Connection, OptionalExtension};

use crate::error::DbError;

/// Returns the last entry number that was given; 0 before the first.
pub(crate) fn last_entry(conn: &Connection) -> Result<i64, DbError> {
    let sql = "select seq from sqlite_sequence where name = 'entries'";
    let last = conn.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    Ok(last.unwrap_or(0))
}
