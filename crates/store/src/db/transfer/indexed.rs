//! Finds texts of the source that are too long for the indexes of PostgreSQL, before anything is
//! copied. SQLite has no such limit.

use std::sync::Arc;

use super::ends::MigrationEnd;
use super::tables::CopiedTable;
use crate::StoreError;
use crate::db::sql::SqlError;

/// Bytes of text in one row of an index. PostgreSQL takes 2,704, with numbers and lengths.
const INDEXED_BYTES_MAX: i64 = 2600;

/// Rows that the error names.
const NAMED_MAX: i64 = 5;

/// The text columns of each index.
const INDEXED: &str = "select t.relname::text, string_agg(a.attname::text, ',' order by a.attnum) \
    from pg_catalog.pg_index x join pg_catalog.pg_class t on t.oid = x.indrelid \
    join pg_catalog.pg_class i on i.oid = x.indexrelid \
    join pg_catalog.pg_am m on m.oid = i.relam and m.amname = 'btree' \
    join pg_catalog.pg_namespace n on n.oid = t.relnamespace \
    join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum = any(x.indkey) \
    where n.nspname = current_schema() and a.atttypid = 'text'::regtype \
    group by x.indexrelid, t.relname order by 1, 2";

/// Refuses a source with such texts, and names them.
pub(super) fn refuse_long_texts(
    source: &MigrationEnd,
    target: &MigrationEnd,
    tables: &[CopiedTable],
) -> Result<(), StoreError> {
    if !target.conn.is_postgres() {
        return Ok(());
    }
    let mut found = Vec::new();
    for (name, columns) in indexed(target).map_err(|e| target.fault(e))? {
        let Some(table) = tables.iter().find(|table| table.name == name) else { continue };
        let long = long_texts(source, table, &columns);
        found.extend(long.map_err(|e| source.table_fault(table, &e))?);
    }
    // Several indexes may have the same column.
    found.dedup();
    if found.is_empty() {
        return Ok(());
    }
    let (file, rows) = (Arc::clone(&source.name), found.join("; "));
    Err(StoreError::TooLongToIndex { file, rows })
}

/// Returns the tables with the text columns of their indexes.
fn indexed(target: &MigrationEnd) -> Result<Vec<(String, Vec<String>)>, SqlError> {
    let mut statement = target.conn.prepare_cached(INDEXED)?;
    let rows = statement.query_map([], |row| {
        let columns: String = row.get(1)?;
        Ok((row.get(0)?, columns.split(',').map(str::to_owned).collect()))
    })?;
    rows.collect()
}

/// Describes the first rows whose texts are too long for an index together.
fn long_texts(
    source: &MigrationEnd,
    table: &CopiedTable,
    columns: &[String],
) -> Result<Vec<String>, SqlError> {
    let lengths = columns.iter().map(|column| format!("coalesce(octet_length(\"{column}\"), 0)"));
    let bytes = lengths.collect::<Vec<_>>().join(" + ");
    let key = &table.key()[0];
    let sql = format!(
        "select substr(cast(\"{key}\" as text), 1, 60), {bytes} from \"{}\" \
         where {bytes} > {INDEXED_BYTES_MAX} order by \"{key}\" limit {NAMED_MAX}",
        table.name
    );
    let mut statement = source.conn.prepare_cached(&sql)?;
    let rows = statement.query_map([], |row| {
        let (key_value, bytes): (String, i64) = (row.get(0)?, row.get(1)?);
        let columns = columns.join(" and ");
        Ok(format!("{}, {key} {key_value}: {columns} with {bytes} bytes", table.name))
    })?;
    rows.collect()
}
