//! The mark of the requests for pages in the stream of entries. Behind it, entries that want their
//! page have no request yet, and queries wait for these pages too.

use crate::db::sql::{Connection, OptionalExtension};
use crate::error::DbError;

/// The setting with the last entry that was looked at for a request.
pub(crate) const REQUESTED_TO: &str = "articles requested to";

/// Returns the last entry that was looked at for a request.
pub(crate) fn requested_to(conn: &Connection) -> Result<i64, DbError> {
    let sql = "select value from settings where key = $1";
    let found: Option<String> =
        conn.prepare_cached(sql)?.query_row([REQUESTED_TO], |row| row.get(0)).optional()?;
    Ok(found.and_then(|mark| mark.parse().ok()).unwrap_or(0))
}
