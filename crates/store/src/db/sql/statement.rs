//! Prepared statements and their rows.

use std::sync::Arc;

use super::{FromValue, Params, Result, SqlError, Value, lateral};
use crate::db::postgres::{PgConnection, PgRows, PgStatement, ScanSteps, column_value};

/// A prepared statement.
pub(crate) enum DbStatement<'c> {
    Sqlite(rusqlite::CachedStatement<'c>),
    Postgres(&'c PgConnection, Arc<PgStatement>),
}

impl DbStatement<'_> {
    /// Runs the statement and returns the number of rows that it changed.
    pub fn execute(&mut self, params: impl Params) -> Result<usize> {
        params.pass(|values| match self {
            DbStatement::Sqlite(statement) => {
                Ok(statement.execute(rusqlite::params_from_iter(values))?)
            }
            DbStatement::Postgres(conn, statement) => conn.execute(statement, values),
        })
    }

    /// Reads the first row; [`SqlError::NoRow`] if there is none.
    pub fn query_row<T>(
        &mut self,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut rows = self.query(params)?;
        let row = rows.next()?.ok_or(SqlError::NoRow)?;
        read(&row)
    }

    /// Returns whether there is any row.
    pub fn exists(&mut self, params: impl Params) -> Result<bool> {
        Ok(self.query(params)?.next()?.is_some())
    }

    /// Reads every row with a function.
    pub fn query_map<T, F: FnMut(&Row<'_>) -> Result<T>>(
        &mut self,
        params: impl Params,
        read: F,
    ) -> Result<MappedRows<'_, F>> {
        Ok(MappedRows { rows: self.query(params)?, read })
    }

    /// Runs a query. PostgreSQL sends all rows at once: use [`DbStatement::scan`] if there may be
    /// many and the caller may stop early.
    pub fn query(&mut self, params: impl Params) -> Result<Rows<'_>> {
        match self {
            DbStatement::Sqlite(statement) => params
                .pass(|values| bind(statement, values))
                .map(|()| Rows::Sqlite(statement.raw_query())),
            DbStatement::Postgres(conn, statement) => {
                params.pass(|values| conn.query(statement, values)).map(Rows::Postgres)
            }
        }
    }

    /// Runs a query whose rows are read in steps, as far as the caller wants them.
    pub fn scan(&mut self, params: impl Params) -> Result<Rows<'_>> {
        self.scan_by(params, ScanSteps::LIST)
    }

    /// The same with other steps.
    pub fn scan_by(&mut self, params: impl Params, steps: ScanSteps) -> Result<Rows<'_>> {
        match self {
            DbStatement::Sqlite(_) => self.query(params),
            DbStatement::Postgres(conn, statement) => {
                params.pass(|values| conn.scan(statement, values, steps)).map(Rows::Postgres)
            }
        }
    }

    /// Runs a query once for each key, which is its parameter `$1`; `others` are the parameters
    /// from `$2` on. `read` gets the place of the key and a row. The rows come in the order of the
    /// keys.
    pub fn each<T>(
        &mut self,
        keys: &[Value<'_>],
        others: &[Value<'_>],
        mut read: impl FnMut(usize, &Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::with_capacity(keys.len());
        match self {
            DbStatement::Sqlite(statement) => {
                for (place, key) in keys.iter().enumerate() {
                    let values = std::iter::once(key).chain(others);
                    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
                    while let Some(row) = rows.next()? {
                        found.push(read(place, &Row::Sqlite(row))?);
                    }
                }
            }
            DbStatement::Postgres(conn, statement) => {
                let rows = conn.query_each(statement, lateral, keys, others)?;
                for row in &rows {
                    let place = i64::from_value(column_value(row, 0)?)?;
                    let place = usize::try_from(place - 1).unwrap_or(0);
                    found.push(read(place, &Row::Postgres { row, first: 1 })?);
                }
            }
        }
        Ok(found)
    }
}

fn bind(statement: &mut rusqlite::CachedStatement<'_>, values: &[Value<'_>]) -> Result<()> {
    for (place, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(place + 1, value)?;
    }
    Ok(())
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::ValueRef;
        Ok(rusqlite::types::ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Int(n) => ValueRef::Integer(n),
            Value::Real(number) => ValueRef::Real(number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The rows of a query.
pub(crate) enum Rows<'s> {
    Sqlite(rusqlite::Rows<'s>),
    Postgres(PgRows<'s>),
}

impl Rows<'_> {
    /// Returns the next row.
    pub fn next(&mut self) -> Result<Option<Row<'_>>> {
        match self {
            Rows::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
            Rows::Postgres(rows) => Ok(rows.next()?.map(|row| Row::Postgres { row, first: 0 })),
        }
    }
}

/// Rows that a function reads.
pub(crate) struct MappedRows<'s, F> {
    rows: Rows<'s>,
    read: F,
}

impl<T, F: FnMut(&Row<'_>) -> Result<T>> Iterator for MappedRows<'_, F> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        match self.rows.next() {
            Ok(row) => row.map(|row| (self.read)(&row)),
            Err(error) => Some(Err(error)),
        }
    }
}

/// One row of a result.
#[derive(Clone, Copy)]
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres {
        row: &'r tokio_postgres::Row,
        /// The column that callers count as the first.
        first: usize,
    },
}

/// The number of a column. The trait makes plain literals numbers of columns.
pub(crate) trait Column {
    fn number(self) -> usize;
}

impl Column for usize {
    fn number(self) -> usize {
        self
    }
}

impl<'r> Row<'r> {
    /// Reads a column.
    pub fn get<C: Column, T: FromValue>(&self, column: C) -> Result<T> {
        let column = column.number();
        T::from_value(self.get_ref(column)?).map_err(|error| match error {
            SqlError::Value(what) => SqlError::value(format!("column {column}: {what}")),
            other => other,
        })
    }

    /// Reads a column without copying it.
    pub fn get_ref(&self, column: usize) -> Result<Value<'r>> {
        match *self {
            Row::Sqlite(row) => {
                use rusqlite::types::ValueRef;
                Ok(match row.get_ref(column)? {
                    ValueRef::Null => Value::Null,
                    ValueRef::Integer(n) => Value::Int(n),
                    ValueRef::Real(number) => Value::Real(number),
                    ValueRef::Text(bytes) => Value::Text(
                        std::str::from_utf8(bytes)
                            .map_err(|_| SqlError::value("the text is not UTF-8"))?,
                    ),
                    ValueRef::Blob(bytes) => Value::Blob(bytes),
                })
            }
            Row::Postgres { row, first } => column_value(row, first + column),
        }
    }
}
