//! A flight: several statements that are sent at once, and whose answers are awaited together. So a
//! group of changes costs one round trip, whatever the number of its statements.

use futures_util::TryStreamExt;
use futures_util::future::join_all;
use tokio_postgres::Row;

use super::PgConnection;
use crate::ErrorKind;
use crate::db::sql::{Datum, Result, SqlError};

/// The lists of a statement: one for each column, all of the same length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists<'a>(Vec<Vec<Datum<'a>>>);

/// Statements that are sent at once. They run in their order.
#[derive(Default)]
pub(crate) struct Flight<'a>(Vec<FlightStep<'a>>);

struct FlightStep<'a> {
    sql: String,
    lists: Lists<'a>,
    /// The number of rows that it must change.
    expected: Option<usize>,
}

impl<'a> Lists<'a> {
    /// Adds a row.
    pub fn push<const N: usize>(&mut self, row: [Datum<'a>; N]) {
        self.0.resize_with(N, Vec::new);
        for (list, value) in self.0.iter_mut().zip(row) {
            list.push(value);
        }
    }

    pub fn len(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> Flight<'a> {
    /// Adds a statement. Without rows there is nothing to do.
    pub fn add(&mut self, sql: impl Into<String>, lists: Lists<'a>) {
        if !lists.is_empty() {
            self.0.push(FlightStep { sql: sql.into(), lists, expected: None });
        }
    }

    /// Adds a statement that must change one row for each row of the lists.
    pub fn add_exact(&mut self, sql: impl Into<String>, lists: Lists<'a>) {
        if !lists.is_empty() {
            let expected = Some(lists.len());
            self.0.push(FlightStep { sql: sql.into(), lists, expected });
        }
    }

    /// Adds a question whose answer the caller finds at the returned place.
    pub fn ask(&mut self, sql: impl Into<String>, lists: Lists<'a>) -> usize {
        self.0.push(FlightStep { sql: sql.into(), lists, expected: None });
        self.0.len() - 1
    }
}

impl PgConnection {
    /// Sends all statements and returns the rows of each.
    pub fn fly(&self, flight: &Flight<'_>) -> Result<Vec<Vec<Row>>> {
        let mut prepared = Vec::with_capacity(flight.0.len());
        for step in &flight.0 {
            prepared.push(self.prepare(&step.sql)?);
        }
        let steps = flight.0.iter().zip(&prepared).map(|(step, prepared)| async move {
            let lists = step.lists.0.iter().map(Vec::as_slice);
            let mut rows = Box::pin(self.client.query_raw(&prepared.statement, lists).await?);
            let mut found = Vec::new();
            while let Some(row) = rows.try_next().await? {
                found.push(row);
            }
            Ok::<_, tokio_postgres::Error>((found, rows.rows_affected()))
        });
        // Each future sends its statement when it is first polled, which happens in their order.
        let answers = self.ask(async { Ok(join_all(steps).await) })?;
        let mut all = Vec::with_capacity(answers.len());
        for (step, answer) in flight.0.iter().zip(answers) {
            let (rows, changed) = answer?;
            let changed = changed.and_then(|n| usize::try_from(n).ok());
            if step.expected.is_some() && step.expected != changed {
                let text = format!("{changed:?} rows changed, {:?} expected", step.expected);
                return Err(SqlError::of_kind(ErrorKind::Other, text));
            }
            all.push(rows);
        }
        Ok(all)
    }
}
