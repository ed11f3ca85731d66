//! The numbers of entries. They ascend without holes, because each is given in the transaction that
//! records its entry.

use crate::db::sql::Connection;
use crate::error::DbError;

/// Returns the last entry number that was given; 0 before the first.
pub(crate) fn last_entry(conn: &Connection) -> Result<i64, DbError> {
    let sql = "select last_entry from stream";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// Gives the next entry number.
pub(crate) fn next_entry(conn: &Connection) -> Result<i64, DbError> {
    let sql = "update stream set last_entry = last_entry + 1 returning last_entry";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}
