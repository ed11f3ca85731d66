//! The marker of an unfinished migration, in the table `meta` of its target: the source, and the
//! tables that are copied.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::digest::TableDigest;
use super::ends::MigrationEnd;
use super::make_schema;
use super::tables::CopiedTable;
use crate::StoreError;
use crate::db::migrations::{self, UNFINISHED_KEY};
use crate::db::sql::{Connection, OptionalExtension, SqlError, params};
use crate::error::DbError;

/// The progress of a migration.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MigrationMarker {
    /// The place of the source, for people.
    from: String,
    /// The name that the source puts on what it publishes. It tells two stores apart.
    instance: String,
    /// The tables that are copied.
    pub done: BTreeMap<String, TableDigest>,
}

/// Reads the marker of an interrupted migration, or sets one in a place without data. Refuses any
/// other place.
pub(super) fn begin(
    source: &MigrationEnd,
    target: &MigrationEnd,
    tables: &[CopiedTable],
) -> Result<MigrationMarker, StoreError> {
    let sql = "select value from settings where key = 'instance'";
    let instance: String =
        source.conn.query_row(sql, [], |row| row.get(0)).map_err(|e| source.fault(e))?;
    let version = migrations::version(&target.conn, &target.name);
    let version = version.map_err(|fault| target.fault(fault))?;
    let found = match version {
        Some(_) => read(&target.conn).map_err(|fault| target.fault(fault))?,
        None => None,
    };
    if let Some(marker) = found {
        if source.is_older() && marker.from == *source.name {
            // The update of a very old source makes up a name each time. The first one counts.
            let sql = "update settings set value = $1 where key = 'instance'";
            source.conn.execute(sql, [&marker.instance]).map_err(|e| source.fault(e))?;
        } else if marker.instance != instance {
            let (file, from) = (Arc::clone(&target.name), Arc::from(marker.from));
            return Err(StoreError::OtherMigration { file, from });
        }
        make_schema(target)?;
        return Ok(marker);
    }
    if let Some(version) = version {
        refuse_data(target, tables, version)?;
    }
    make_schema(target)?;
    let from = source.name.to_string();
    let marker = MigrationMarker { from, instance, done: BTreeMap::new() };
    write(target, &marker)?;
    Ok(marker)
}

/// Refuses a store that has been used. One that a program has opened and left empty is welcome.
fn refuse_data(
    target: &MigrationEnd,
    tables: &[CopiedTable],
    version: i64,
) -> Result<(), StoreError> {
    let file = || Arc::clone(&target.name);
    if version != migrations::current_version() {
        let what = format!("a store of schema version {version}");
        return Err(StoreError::NotEmpty { file: file(), what });
    }
    for table in tables {
        let n = table.count(&target.conn).map_err(|e| target.table_fault(table, &e))?;
        if n > table.n_rows_new {
            let what = format!("{n} rows in table {}", table.name);
            return Err(StoreError::NotEmpty { file: file(), what });
        }
    }
    Ok(())
}

fn read(conn: &Connection) -> Result<Option<MigrationMarker>, DbError> {
    let sql = "select value from meta where key = $1";
    let text: Option<String> =
        conn.query_row(sql, [UNFINISHED_KEY], |row| row.get(0)).optional()?;
    let marker = text.map(|text| serde_json::from_str(&text)).transpose();
    Ok(marker.map_err(|e| SqlError::value(format!("the marker of the migration: {e}")))?)
}

/// Stores the marker. Its own transaction comes after that of the rows: a marker never promises
/// more than there is.
pub(super) fn write(target: &MigrationEnd, marker: &MigrationMarker) -> Result<(), StoreError> {
    let text =
        serde_json::to_string(marker).map_err(|e| target.fault(SqlError::value(e.to_string())))?;
    let sql = "insert into meta (key, value) values ($1, $2) \
               on conflict (key) do update set value = excluded.value";
    let written = target.conn.execute(sql, params![UNFINISHED_KEY, text]);
    written.map(|_| ()).map_err(|e| target.fault(e))
}

pub(super) fn remove(conn: &Connection) -> Result<(), SqlError> {
    conn.execute("delete from meta where key = $1", [UNFINISHED_KEY]).map(|_| ())
}
