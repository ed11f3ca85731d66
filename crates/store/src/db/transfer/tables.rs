//! The tables that a migration copies, with their columns. The list comes from the schema that the
//! migration steps create, so a new table or column is copied without a change here.

use std::fmt::Write;

use crate::db::migrations;
use crate::db::sql::{Connection, SqlError, Value};
use crate::error::DbError;

/// Tables that a migration leaves as the schema steps make them.
///
/// `meta` describes the database itself. `seat` names the process that records into it. `stream`
/// also names this process; its number is set at the end. `grants` and `machines` name requests and
/// processes of the old store. The index of words is built again from the entries: it has another
/// form in each database.
pub(crate) const NOT_COPIED: [&str; 7] =
    ["meta", "seat", "stream", "grants", "machines", "search_progress", "search_stale"];

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Whole,
    Number,
    Text,
    Bytes,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableColumn {
    pub name: String,
    pub kind: ColumnKind,
}

/// A table that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopiedTable {
    pub name: String,
    pub columns: Vec<TableColumn>,
    /// The columns of the primary key, in its order.
    key: Vec<String>,
    /// The tables that rows of this table refer to.
    parents: Vec<String>,
    /// The column whose numbers the database gives.
    pub numbered: Option<String>,
    /// The rows that a new store has.
    pub n_rows_new: u64,
}

impl CopiedTable {
    /// Selects all rows in the order of the primary key. An index gives this order in both
    /// databases.
    pub fn select(&self) -> String {
        let key = quoted(self.key.iter());
        format!("select {} from \"{}\" order by {key}", self.column_list(), self.name)
    }

    /// The columns of the primary key, in its order.
    pub fn key(&self) -> &[String] {
        &self.key
    }

    pub fn column_list(&self) -> String {
        quoted(self.columns.iter().map(|column| &column.name))
    }

    pub fn insert(&self) -> String {
        let mut values = String::new();
        for n in 1..=self.columns.len() {
            let comma = if n == 1 { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = write!(values, "{comma}${n}");
        }
        format!("insert into \"{}\" ({}) values ({values})", self.name, self.column_list())
    }

    pub fn count(&self, conn: &Connection) -> Result<u64, SqlError> {
        let sql = format!("select count(*) from \"{}\"", self.name);
        conn.query_row(&sql, [], |row| crate::db::columns::count(row, 0))
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// Returns the tables that are copied. Each stands after the tables that it refers to.
pub(crate) fn copied() -> Result<Vec<CopiedTable>, DbError> {
    let reference = Connection::Sqlite(rusqlite::Connection::open_in_memory()?);
    migrations::make(&reference, migrations::current_version())?;
    let sql = "select l.name, s.sql from pragma_table_list l \
               join sqlite_schema s on s.type = 'table' and s.name = l.name \
               where l.schema = 'main' and l.type = 'table' and l.name not like 'sqlite_%' \
               order by l.name";
    let mut statement = reference.prepare_cached(sql)?;
    let names = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let names: Vec<(String, String)> = names.collect::<Result<_, _>>()?;
    let mut tables = Vec::with_capacity(names.len());
    for (name, sql) in names {
        if !NOT_COPIED.contains(&name.as_str()) {
            tables.push(describe(&reference, name, &sql)?);
        }
    }
    sorted(tables)
}

fn describe(reference: &Connection, name: String, sql: &str) -> Result<CopiedTable, DbError> {
    let mut statement = reference
        .prepare_cached("select name, type, pk from pragma_table_info($1) order by cid")?;
    let rows = statement.query_map([&name], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
    })?;
    let (mut columns, mut key) = (Vec::new(), Vec::new());
    for row in rows {
        let (column, declared, place) = row?;
        if place > 0 {
            key.push((place, column.clone()));
        }
        columns.push(TableColumn { kind: kind(&name, &declared)?, name: column });
    }
    key.sort();
    let key: Vec<String> = key.into_iter().map(|(_, column)| column).collect();
    let numbered = sql.contains("autoincrement").then(|| key.first().cloned()).flatten();
    let mut statement =
        reference.prepare_cached("select distinct \"table\" from pragma_foreign_key_list($1)")?;
    let parents = statement.query_map([&name], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut table = CopiedTable { name, columns, key, parents, numbered, n_rows_new: 0 };
    table.n_rows_new = table.count(reference)?;
    Ok(table)
}

fn kind(table: &str, declared: &str) -> Result<ColumnKind, SqlError> {
    match declared.to_ascii_lowercase().as_str() {
        "bigint" | "integer" | "smallint" => Ok(ColumnKind::Whole),
        "double precision" => Ok(ColumnKind::Number),
        "text" => Ok(ColumnKind::Text),
        "blob" => Ok(ColumnKind::Bytes),
        other => Err(SqlError::value(format!("table {table} has a column of type {other}"))),
    }
}

/// Puts each table after the tables that it refers to.
fn sorted(mut left: Vec<CopiedTable>) -> Result<Vec<CopiedTable>, DbError> {
    let mut done: Vec<CopiedTable> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let (ready, waiting): (Vec<CopiedTable>, Vec<CopiedTable>) =
            left.into_iter().partition(|table| {
                table.parents.iter().all(|name| {
                    *name == table.name || done.iter().any(|parent| parent.name == *name)
                })
            });
        if ready.is_empty() {
            return Err(SqlError::value("the references between tables form a circle").into());
        }
        done.extend(ready);
        left = waiting;
    }
    Ok(done)
}

/// Turns a value into the form that both databases store: U+0000 is dropped from texts, and a
/// column for numbers holds no whole numbers.
pub(crate) fn canonical<'a>(kind: ColumnKind, value: Value<'a>, text: &'a mut String) -> Value<'a> {
    match (kind, value) {
        #[expect(clippy::cast_precision_loss, reason = "the column stores it as a float anyway")]
        (ColumnKind::Number, Value::Int(n)) => Value::Real(n as f64),
        // SQLite does not keep the sign of zero.
        (_, Value::Real(0.0)) => Value::Real(0.0),
        (_, Value::Text(found)) if found.contains('\0') => {
            *text = found.replace('\0', "");
            Value::Text(text)
        }
        (_, value) => value,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn reference() -> Connection {
        let conn = Connection::Sqlite(rusqlite::Connection::open_in_memory().unwrap());
        migrations::make(&conn, migrations::current_version()).ok().unwrap();
        conn
    }

    fn tables() -> Vec<CopiedTable> {
        copied().ok().unwrap()
    }

    /// Counts `create table` in the schema itself, so that a table cannot be lost on the way.
    #[test]
    fn every_table_is_copied_or_left_out_on_purpose() {
        let conn = reference();
        let sql = "select name from sqlite_schema where type = 'table' \
                   and sql like 'create table%' and sql not like '%using fts5%' \
                   and name not like 'sqlite_%'";
        let mut statement = conn.prepare_cached(sql).unwrap();
        let all = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let all: BTreeSet<String> = all.map(Result::unwrap).collect();
        // The parts of the index of words are tables too, for SQLite.
        let is_index = |name: &String| {
            ["search_data", "search_idx", "search_docsize", "search_config"]
                .contains(&name.as_str())
        };
        let known: BTreeSet<String> = tables()
            .into_iter()
            .map(|table| table.name)
            .chain(NOT_COPIED.map(str::to_owned))
            .collect();
        let all: BTreeSet<String> = all.into_iter().filter(|name| !is_index(name)).collect();
        assert_eq!(all, known);
        assert!(known.len() > 30, "{known:?}");
    }

    #[test]
    fn a_table_comes_after_those_that_it_refers_to_and_has_a_key() {
        let tables = tables();
        for (place, table) in tables.iter().enumerate() {
            assert!(!table.key.is_empty(), "{} has no primary key", table.name);
            for parent in &table.parents {
                let before = tables[..place].iter().any(|other| other.name == *parent);
                assert!(before, "{} comes before {parent}", table.name);
            }
        }
        let of = |name: &str| tables.iter().find(|table| table.name == name).unwrap();
        assert_eq!(of("feeds").numbered.as_deref(), Some("id"));
        assert_eq!(of("feed_tags").numbered, None);
        assert_eq!(of("feed_tags").key, ["feed", "tag"]);
        assert_eq!(of("tag_numbers").n_rows_new, 1);
        let weight = of("feeds").columns.iter().find(|c| c.name == "weight").unwrap();
        assert_eq!(weight.kind, ColumnKind::Number);
    }

    #[test]
    fn values_have_one_form_in_both_databases() {
        let mut text = String::new();
        assert_eq!(
            canonical(ColumnKind::Text, Value::Text("a\0b\0"), &mut text),
            Value::Text("ab")
        );
        let mut text = String::new();
        let zero = canonical(ColumnKind::Number, Value::Real(-0.0), &mut text);
        assert!(matches!(zero, Value::Real(zero) if zero.is_sign_positive()));
        let mut text = String::new();
        assert_eq!(canonical(ColumnKind::Number, Value::Int(2), &mut text), Value::Real(2.0));
        let mut text = String::new();
        assert_eq!(canonical(ColumnKind::Whole, Value::Int(2), &mut text), Value::Int(2));
    }
}
