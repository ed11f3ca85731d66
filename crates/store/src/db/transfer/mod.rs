//! Copies a store from one place to another: between SQLite and PostgreSQL, in either direction.
//!
//! One transaction reads a single moment of the source, while locks keep everybody else from
//! writing there. A marker in the target holds the progress. An interrupted copy continues with
//! its first unfinished table, and no program opens the target before the copy is complete and
//! verified. The source is never changed: an older schema is updated in a transaction that is never
//! committed.

mod batch;
mod digest;
mod ends;
mod indexed;
mod marker;
mod tables;

use std::sync::Arc;

use self::batch::RowBatch;
use self::digest::TableDigest;
use self::ends::MigrationEnd;
use self::marker::MigrationMarker;
use self::tables::CopiedTable;
use crate::db::integrity::Finding;
use crate::db::lock::LockError;
use crate::db::postgres::ScanSteps;
use crate::db::sql::{Connection, SqlError};
use crate::db::{dialect, migrations, sequence};
use crate::error::DbError;
use crate::{Location, StoreError};

/// Rows between two reports, and between two commits of the target.
const BATCH_ROWS: u64 = 5000;

/// The work that a migration is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationPhase {
    /// Compares the source with tables that an interrupted run has copied.
    Comparing,
    Copying,
    /// Reads the target and compares it with the source.
    Verifying,
}

/// The progress of a migration.
#[derive(Clone, Copy, Debug)]
pub struct MigrationProgress<'a> {
    pub phase: MigrationPhase,
    pub table: &'a str,
    /// Rows of this table so far.
    pub rows: u64,
    /// All rows of this table.
    pub rows_total: u64,
}

/// A table that was copied and verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigratedTable {
    pub name: String,
    pub rows: u64,
    /// The hash of all rows, the same on both sides.
    pub hash: String,
}

/// The result of a migration.
#[derive(Clone, Debug)]
pub struct MigrationSummary {
    pub tables: Vec<MigratedTable>,
    /// The tables that an interrupted run had copied already.
    pub n_resumed: usize,
    /// The version of the source's schema, if it is older than that of the copy.
    pub older_version: Option<i64>,
    /// An interrupted run had copied tables, but the source has changed since.
    pub is_started_over: bool,
    /// Findings of the integrity check. Source and target share them.
    pub findings: Vec<Finding>,
}

/// The reason why a migration ended.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Receives the progress.
pub(crate) type Report<'a> = &'a mut dyn FnMut(&MigrationProgress<'_>);

/// Checks the meaning of the rows. `db` does not know it.
pub(crate) type Check<'a> = &'a dyn Fn(&Connection, &Arc<str>) -> Result<Vec<Finding>, DbError>;

/// Copies the store at `from` to the empty place `to`, and verifies the copy.
pub(crate) fn run(
    from: &Location,
    to: &Location,
    report: Report<'_>,
    check: Check<'_>,
) -> Result<MigrationSummary, MigrationError> {
    let mut source = ends::open_source(from)?;
    let tables = tables::copied().map_err(|fault| source.fault(fault))?;
    source.freeze()?;
    let target = ends::open_target(to)?;
    let mut transfer = Transfer { source, target, tables, report };
    Ok(transfer.run(check)?)
}

/// Returns all rows of the copied tables as texts, for tests.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn table_rows(
    conn: &Connection,
) -> Result<std::collections::BTreeMap<String, Vec<String>>, DbError> {
    let mut all = std::collections::BTreeMap::new();
    conn.begin_reading()?;
    for table in tables::copied()? {
        let mut rows = Vec::new();
        each_row(conn, &table, |row| {
            let mut text = String::new();
            for (place, column) in table.columns.iter().enumerate() {
                let mut plain = String::new();
                let value = tables::canonical(column.kind, row.get_ref(place)?, &mut plain);
                text.push_str(&format!("{}={value:?} ", column.name));
            }
            rows.push(text);
            Ok(())
        })?;
        if table.numbered.is_some() {
            rows.push(format!("last number {}", dialect::last_number(conn, &table.name)?));
        }
        all.insert(table.name, rows);
    }
    all.insert("stream".to_owned(), vec![sequence::last_entry(conn)?.to_string()]);
    conn.end_reading();
    Ok(all)
}

/// Returns the names of the tables whose rows belong to accounts, for tests.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn tables_of_accounts() -> Result<Vec<String>, DbError> {
    let mut tables = tables::copied()?;
    tables.retain(|table| table.columns.iter().any(|column| column.name == "account"));
    Ok(tables.into_iter().map(|table| table.name).collect())
}

/// Calls a function with each row, in the order of the primary key.
fn each_row(
    conn: &Connection,
    table: &CopiedTable,
    mut read: impl FnMut(&crate::db::sql::Row<'_>) -> Result<(), SqlError>,
) -> Result<(), SqlError> {
    let mut statement = conn.prepare_cached(&table.select())?;
    let mut rows = statement.scan_by([], ScanSteps::TABLE)?;
    while let Some(row) = &rows.next()? {
        read(row)?;
    }
    Ok(())
}

/// A migration under way.
struct Transfer<'a> {
    source: MigrationEnd,
    target: MigrationEnd,
    tables: Vec<CopiedTable>,
    report: Report<'a>,
}

impl Transfer<'_> {
    fn run(&mut self, check: Check<'_>) -> Result<MigrationSummary, StoreError> {
        let mut marker = marker::begin(&self.source, &self.target, &self.tables)?;
        indexed::refuse_long_texts(&self.source, &self.target, &self.tables)?;
        let is_started_over = !self.is_unchanged(&marker)?;
        if is_started_over {
            marker.done.clear();
            marker::write(&self.target, &marker)?;
        }
        self.empty_unfinished(&marker)?;
        let n_resumed = marker.done.len();
        for place in 0..self.tables.len() {
            if !marker.done.contains_key(&self.tables[place].name) {
                let digest = self.copy(place)?;
                marker.done.insert(self.tables[place].name.clone(), digest);
                marker::write(&self.target, &marker)?;
            }
        }
        self.set_numbers().map_err(|fault| self.target.fault(fault))?;
        if let Err(error) = self.verify(&marker) {
            // The next run copies everything again.
            marker.done.clear();
            marker::write(&self.target, &marker)?;
            return Err(error);
        }
        let findings = self.target.reading(|conn| check(conn, &self.target.name))?;
        self.target.finish(&self.tables)?;
        let digests = self.tables.iter().filter_map(|table| {
            marker.done.get(&table.name).map(|digest| MigratedTable {
                name: table.name.clone(),
                rows: digest.rows,
                hash: digest.hash_text(),
            })
        });
        let older_version = self.source.is_older().then_some(self.source.version);
        Ok(MigrationSummary {
            tables: digests.collect(),
            n_resumed,
            older_version,
            is_started_over,
            findings,
        })
    }

    /// Returns whether the source still holds the rows that an interrupted run has copied.
    fn is_unchanged(&mut self, marker: &MigrationMarker) -> Result<bool, StoreError> {
        for place in 0..self.tables.len() {
            let Some(copied) = marker.done.get(&self.tables[place].name) else { continue };
            let end = &self.source;
            let found = digest(
                end,
                &self.tables[place],
                MigrationPhase::Comparing,
                copied.rows,
                self.report,
            )?;
            if found != *copied {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes the rows that a new store has, and those that an earlier run left in unfinished
    /// tables. The referring tables come first.
    fn empty_unfinished(&self, marker: &MigrationMarker) -> Result<(), StoreError> {
        let tables = self.tables.iter().rev();
        for table in tables.filter(|table| !marker.done.contains_key(&table.name)) {
            let emptied = self.target.conn.execute(&format!("delete from \"{}\"", table.name), []);
            emptied.map_err(|e| self.target.table_fault(table, &e))?;
        }
        Ok(())
    }

    /// Copies one table, which is empty in the target.
    fn copy(&mut self, place: usize) -> Result<TableDigest, StoreError> {
        let (source, target, table) = (&self.source, &self.target, &self.tables[place]);
        let reading = |e: SqlError| source.table_fault(table, &e);
        let writing = |e: SqlError| target.table_fault(table, &e);
        let rows_total = table.count(&source.conn).map_err(reading)?;
        let phase = MigrationPhase::Copying;
        let mut tell = |rows| {
            (self.report)(&MigrationProgress { phase, table: &table.name, rows, rows_total });
        };
        tell(0);
        let mut digest = TableDigest::default();
        let mut statement = source.conn.prepare_cached(&table.select()).map_err(reading)?;
        let mut rows = statement.scan_by([], ScanSteps::TABLE).map_err(reading)?;
        let mut batch = RowBatch::begin(&target.conn, table).map_err(writing)?;
        while let Some(row) = &rows.next().map_err(reading)? {
            digest.add(table, row).map_err(reading)?;
            let mut values = Vec::with_capacity(table.columns.len());
            for column in 0..table.columns.len() {
                values.push(row.get_ref(column).map_err(reading)?);
            }
            batch.put(&values).map_err(writing)?;
            if batch.is_full(BATCH_ROWS) {
                batch.end().map_err(writing)?;
                tell(digest.rows);
                batch = RowBatch::begin(&target.conn, table).map_err(writing)?;
            }
        }
        batch.end().map_err(writing)?;
        tell(digest.rows);
        Ok(digest)
    }

    /// Sets the numbers that the target gives next, and where its index of words continues.
    fn set_numbers(&self) -> Result<(), DbError> {
        let (source, target) = (&self.source.conn, &self.target.conn);
        for table in &self.tables {
            if let Some(column) = &table.numbered {
                let sql = format!("select coalesce(max({column}), 0) from \"{}\"", table.name);
                let highest: i64 = target.query_row(&sql, [], |row| row.get(0))?;
                let last = dialect::last_number(source, &table.name)?.max(highest);
                dialect::set_last_number(target, &table.name, last)?;
            }
        }
        let last_entry = sequence::last_entry(source)?;
        let epoch: i64 = source.query_row("select epoch from seat", [], |row| row.get(0))?;
        target.begin_writing()?;
        target.execute("update stream set last_entry = $1", [last_entry])?;
        // Epochs go on: the copied rows name those of the source.
        target.execute("update stream set epoch = $1 where epoch < $1", [epoch])?;
        target.execute("update seat set epoch = $1 where epoch < $1", [epoch])?;
        target.execute("update search_progress set indexed_to = 0", [])?;
        target.execute("delete from search_stale", [])?;
        target.control("commit")?;
        Ok(())
    }

    /// Reads the whole target and compares it with what was read from the source.
    fn verify(&mut self, marker: &MigrationMarker) -> Result<(), StoreError> {
        for place in 0..self.tables.len() {
            let table = &self.tables[place];
            let copied = marker.done.get(&table.name).copied().unwrap_or_default();
            let phase = MigrationPhase::Verifying;
            let found = digest(&self.target, table, phase, copied.rows, self.report)?;
            if found != copied {
                let what = if found.rows == copied.rows {
                    "other values".to_owned()
                } else {
                    format!("{} rows instead of {}", found.rows, copied.rows)
                };
                let (file, table) = (Arc::clone(&self.target.name), table.name.clone());
                return Err(StoreError::CopyDiffers { file, table, what });
            }
        }
        Ok(())
    }
}

/// Reads a whole table and returns its digest.
fn digest(
    end: &MigrationEnd,
    table: &CopiedTable,
    phase: MigrationPhase,
    rows_total: u64,
    report: Report<'_>,
) -> Result<TableDigest, StoreError> {
    let mut digest = TableDigest::default();
    let mut tell =
        |rows| report(&MigrationProgress { phase, table: &table.name, rows, rows_total });
    tell(0);
    let read = end.table_rows(|conn| {
        each_row(conn, table, |row| {
            digest.add(table, row)?;
            if digest.rows.is_multiple_of(BATCH_ROWS) {
                tell(digest.rows);
            }
            Ok(())
        })
    });
    read.map_err(|e| end.table_fault(table, &e))?;
    tell(digest.rows);
    Ok(digest)
}

/// Creates or updates the schema of a target.
fn make_schema(target: &MigrationEnd) -> Result<(), StoreError> {
    migrations::migrate_unfinished(&target.conn, &target.name).map_err(|fault| target.fault(fault))
}
