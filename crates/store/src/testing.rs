//! For tests: a store on the database that `TIDINGS_TEST_STORE` names, a schema of its own for each
//! data folder. Without the variable, the store is in the folder (SQLite).

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use crate::db::postgres::{PgAddress, connect};
use crate::db::sql::Connection;
use crate::db::{FILE_NAME, connection, transfer};
use crate::{Location, Store};

/// The variable with the address of a PostgreSQL server that the tests may fill.
pub const VARIABLE: &str = "TIDINGS_TEST_STORE";

/// Returns whether the tests use PostgreSQL. Tests about files of SQLite end then.
pub fn is_postgres() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Returns the address of the database for a data folder, after creating its schema.
pub fn url(folder: &Path) -> Option<String> {
    let server = std::env::var(VARIABLE).ok()?;
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    let schema = format!("test_{:016x}", hasher.finish());
    let address = PgAddress::parse(&server, &|_| None).unwrap_or_else(|e| panic!("{e}"));
    let conn = connect::writing(&address).unwrap_or_else(|e| panic!("{server}: {e}"));
    let made = conn.execute_batch(&format!("create schema if not exists {schema}"));
    made.unwrap_or_else(|e| panic!("{server}: {e}"));
    let sign = if server.contains('?') { '&' } else { '?' };
    Some(format!("{server}{sign}options=-csearch_path%3D{schema}"))
}

/// Returns the place of the store for a data folder.
pub fn location(folder: impl AsRef<Path>) -> Location {
    let folder = folder.as_ref();
    match url(folder) {
        None => Location::Folder(folder.to_owned()),
        Some(url) => {
            Location::Postgres(PgAddress::parse(&url, &|_| None).unwrap_or_else(|e| panic!("{e}")))
        }
    }
}

/// Returns all rows of a store as texts, by table, with the last numbers that were given. Leaves
/// out what a migration does not copy.
pub fn rows(location: &Location) -> BTreeMap<String, Vec<String>> {
    let (conn, name) = connect_to(location);
    transfer::table_rows(&conn).unwrap_or_else(|fault| panic!("{}", fault.at(&name)))
}

/// Runs SQL statements on a store, past all rules.
pub fn execute(location: &Location, sql: &str) {
    let (conn, name) = connect_to(location);
    conn.execute_batch(sql).unwrap_or_else(|e| panic!("{name}: {sql}: {e:?}"));
}

fn connect_to(location: &Location) -> (Connection, Arc<str>) {
    let conn = match location {
        Location::Folder(folder) => connection::sharing(&folder.join(FILE_NAME)),
        Location::Postgres(address) => connect::writing(address),
    };
    let name = location.shown();
    (conn.unwrap_or_else(|e| panic!("{name}: {e}")), name)
}

/// Counts the rows of a table.
pub fn count(store: &Store, table: &str) -> i64 {
    let sql = format!("select count(*) from {table}");
    let counted = store.read(|conn| Ok(conn.query_row(&sql, [], |row| row.get(0))?));
    counted.unwrap_or_else(|e| panic!("{e}"))
}
