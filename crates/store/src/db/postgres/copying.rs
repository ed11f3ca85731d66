//! Writes many rows with one `COPY` statement, in the binary format. Each copy is a transaction of
//! its own, unless one is open.

use std::error::Error;
use std::pin::Pin;

use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

use super::PgConnection;
use super::runtime::wait;
use crate::db::sql::{Result, SqlError, Value};

/// A copy that takes rows. Dropping it before [`PgCopy::finish`] undoes it.
pub(crate) struct PgCopy {
    writer: Pin<Box<BinaryCopyInWriter>>,
}

impl PgConnection {
    /// Begins to copy rows into a table. `columns` is a list of names.
    pub fn copy_in(&self, table: &str, columns: &str) -> Result<PgCopy> {
        let form = self.prepare(&format!("select {columns} from \"{table}\""))?;
        let types: Vec<Type> =
            form.statement.columns().iter().map(|column| column.type_().clone()).collect();
        let sql = format!("copy \"{table}\" ({columns}) from stdin (format binary)");
        let copy = self.prepare(&sql)?;
        let sink = self.ask(self.client.copy_in(&copy.statement))?;
        Ok(PgCopy { writer: Box::pin(BinaryCopyInWriter::new(sink, &types)) })
    }
}

impl PgCopy {
    /// Sends a row. A row that the server refuses is reported at the end.
    pub fn put(&mut self, values: &[Value<'_>]) -> Result<()> {
        wait(self.writer.as_mut().write_raw(values)).map_err(|error| {
            if error.is_closed() || error.code().is_some() {
                return error.into();
            }
            // The value does not fit the type of its column.
            let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            SqlError::value(cause)
        })
    }

    /// Ends the copy and returns the number of rows.
    pub fn finish(mut self) -> Result<u64> {
        Ok(wait(self.writer.as_mut().finish())?)
    }
}
