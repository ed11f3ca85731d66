//! Rows of a query: all at once, or in steps through a cursor of the server.

use std::vec;

use tokio_postgres::Row;

use super::PgConnection;
use crate::db::sql::Result;

/// The numbers of rows that are fetched at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanSteps {
    pub first: usize,
    pub further: usize,
}

impl ScanSteps {
    /// Most lists end within the first step. A long list takes few round trips, and little memory.
    pub const LIST: ScanSteps = ScanSteps { first: 200, further: 2000 };
    /// For whole rows of any table. A row may hold a document of several megabytes.
    pub const TABLE: ScanSteps = ScanSteps { first: 100, further: 100 };
}

/// The rows of a query.
pub(crate) struct PgRows<'c> {
    rows: vec::IntoIter<Row>,
    current: Option<Row>,
    /// The cursor that has more rows.
    cursor: Option<OpenCursor<'c>>,
    step: usize,
}

/// An open cursor.
pub(super) struct OpenCursor<'c> {
    pub conn: &'c PgConnection,
    pub name: String,
}

impl Drop for OpenCursor<'_> {
    fn drop(&mut self) {
        self.conn.close_cursor(&self.name);
    }
}

impl<'c> PgRows<'c> {
    pub(super) fn all(rows: Vec<Row>) -> PgRows<'c> {
        PgRows { rows: rows.into_iter(), current: None, cursor: None, step: 0 }
    }

    pub(super) fn begun(rows: Vec<Row>, cursor: OpenCursor<'c>, steps: ScanSteps) -> PgRows<'c> {
        let cursor = (rows.len() == steps.first).then_some(cursor);
        PgRows { rows: rows.into_iter(), current: None, cursor, step: steps.further }
    }

    /// Returns the next row, and asks for more of them when needed.
    pub fn next(&mut self) -> Result<Option<&Row>> {
        self.current = self.rows.next();
        if self.current.is_none()
            && let Some(cursor) = self.cursor.take()
        {
            let rows = cursor.conn.fetch(&cursor.name, self.step)?;
            self.cursor = (rows.len() == self.step).then_some(cursor);
            self.rows = rows.into_iter();
            self.current = self.rows.next();
        }
        Ok(self.current.as_ref())
    }
}
