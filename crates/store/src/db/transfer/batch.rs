//! Rows that the target gets in one transaction.

use super::tables::CopiedTable;
use crate::db::postgres::PgCopy;
use crate::db::sql::{Connection, DbStatement, Result, Value};

/// Bytes after which a batch is committed: a few rows may hold large texts.
const BATCH_BYTES: usize = 8 << 20;

/// A transaction that takes rows. Without [`RowBatch::end`] the target keeps none of them.
pub(super) struct RowBatch<'c> {
    form: BatchForm<'c>,
    rows: u64,
    bytes: usize,
}

enum BatchForm<'c> {
    Sqlite { conn: &'c Connection, insert: DbStatement<'c> },
    Postgres(PgCopy),
}

impl<'c> RowBatch<'c> {
    pub fn begin(conn: &'c Connection, table: &CopiedTable) -> Result<RowBatch<'c>> {
        let form = match conn {
            Connection::Sqlite(_) => {
                let insert = conn.prepare_cached(&table.insert())?;
                conn.begin_writing()?;
                BatchForm::Sqlite { conn, insert }
            }
            Connection::Postgres(own) => {
                BatchForm::Postgres(own.copy_in(&table.name, &table.column_list())?)
            }
        };
        Ok(RowBatch { form, rows: 0, bytes: 0 })
    }

    pub fn put(&mut self, values: &[Value<'_>]) -> Result<()> {
        match &mut self.form {
            BatchForm::Sqlite { insert, .. } => {
                insert.execute(values)?;
            }
            BatchForm::Postgres(copy) => copy.put(values)?,
        }
        self.rows += 1;
        self.bytes += values.iter().map(n_bytes).sum::<usize>();
        Ok(())
    }

    pub fn is_full(&self, rows_max: u64) -> bool {
        self.rows >= rows_max || self.bytes >= BATCH_BYTES
    }

    /// Commits the rows.
    pub fn end(self) -> Result<()> {
        match self.form {
            BatchForm::Sqlite { conn, .. } => conn.control("commit"),
            BatchForm::Postgres(copy) => copy.finish().map(|_| ()),
        }
    }
}

fn n_bytes(value: &Value<'_>) -> usize {
    match value {
        Value::Null => 0,
        Value::Int(_) | Value::Real(_) => size_of::<i64>(),
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
    }
}
