//! Compares the schema of a database with the one that the migrations create. A copy from elsewhere
//! may contain a trigger, a view or a changed table that acts on every later write.
//!
//! It reads the schema only, never a row.

use std::collections::BTreeMap;

use crate::db::migrations;
use crate::db::sql::Connection;
use crate::error::DbError;

/// Type and name of each object, and the SQL that made it.
type SchemaObjects = BTreeMap<(String, String), String>;

/// Returns the differences from the schema of this version, in words.
pub(crate) fn differences(conn: &Connection, version: i64) -> Result<Vec<String>, DbError> {
    let found = objects(conn)?;
    let reference = Connection::Sqlite(rusqlite::Connection::open_in_memory()?);
    migrations::make(&reference, version)?;
    let expected = objects(&reference)?;
    let mut differences = Vec::new();
    for ((kind, name), sql) in &found {
        match expected.get(&(kind.clone(), name.clone())) {
            None => differences.push(format!("it holds an unknown {kind} `{name}`")),
            Some(own) if own != sql => {
                differences.push(format!("its {kind} `{name}` is defined differently"));
            }
            Some(_) => {}
        }
    }
    let missing = expected.keys().filter(|key| !found.contains_key(key));
    differences.extend(missing.map(|(kind, name)| format!("its {kind} `{name}` is missing")));
    Ok(differences)
}

fn objects(conn: &Connection) -> Result<SchemaObjects, DbError> {
    let mut statement =
        conn.prepare_cached("select type, name, tbl_name, sql from sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut objects = SchemaObjects::new();
    while let Some(row) = &rows.next()? {
        let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
        let (table, sql): (String, Option<String>) = (row.get(2)?, row.get(3)?);
        // An operator's `analyze` creates statistics tables, which only SQLite reads.
        if kind == "table" && name.starts_with("sqlite_stat") {
            continue;
        }
        let text = format!("{table}: {}", plain(sql.as_deref().unwrap_or_default()));
        objects.insert((kind, name), text);
    }
    Ok(objects)
}

/// Normalises the SQL: versions of SQLite write different quotes and spaces after `alter table`.
fn plain(sql: &str) -> String {
    sql.replace('"', "").split_whitespace().collect::<Vec<_>>().join(" ")
}
