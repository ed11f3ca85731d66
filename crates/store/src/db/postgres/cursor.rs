//! Rows of a query: all at once, or in steps through a cursor of the server.

use std::vec;

use tokio_postgres::Row;

use super::PgConnection;
use crate::db::sql::Result;

/// Rows of the first step. Most lists end within it.
pub(super) const FIRST_STEP: usize = 200;
/// Rows of the further steps: a long list takes few round trips, and little memory.
const STEP: usize = 2000;

/// The rows of a query.
pub(crate) struct PgRows<'c> {
    rows: vec::IntoIter<Row>,
    current: Option<Row>,
    /// The cursor that has more rows.
    cursor: Option<Cursor<'c>>,
}

/// An open cursor.
pub(super) struct Cursor<'c> {
    pub conn: &'c PgConnection,
    pub name: String,
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        self.conn.close_cursor(&self.name);
    }
}

impl<'c> PgRows<'c> {
    pub(super) fn all(rows: Vec<Row>) -> PgRows<'c> {
        PgRows { rows: rows.into_iter(), current: None, cursor: None }
    }

    pub(super) fn begun(rows: Vec<Row>, cursor: Cursor<'c>) -> PgRows<'c> {
        let cursor = (rows.len() == FIRST_STEP).then_some(cursor);
        PgRows { rows: rows.into_iter(), current: None, cursor }
    }

    /// Returns the next row, and asks for more of them when needed.
    pub fn next(&mut self) -> Result<Option<&Row>> {
        self.current = self.rows.next();
        if self.current.is_none()
            && let Some(cursor) = self.cursor.take()
        {
            let rows = cursor.conn.fetch(&cursor.name, STEP)?;
            self.cursor = (rows.len() == STEP).then_some(cursor);
            self.rows = rows.into_iter();
            self.current = self.rows.next();
        }
        Ok(self.current.as_ref())
    }
}
