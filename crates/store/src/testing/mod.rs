//! For tests: a store on the database that `TIDINGS_TEST_STORE` names, a schema of its own for each
//! data folder. Without the variable, the store is in the folder (SQLite).

mod relay;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use crate::db::postgres::{PgAddress, connect};
use crate::db::sql::Connection;
use crate::db::{FILE_NAME, connection, migrations, transfer};
use crate::{Location, Store};

pub use relay::Relay;

/// The variable with the address of a PostgreSQL server that the tests may fill.
pub const VARIABLE: &str = "TIDINGS_TEST_STORE";

/// Returns whether the tests use PostgreSQL. Tests about files of SQLite end then.
pub fn is_postgres() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Returns the address of the database for a data folder, after creating its schema.
pub fn url(folder: &Path) -> Option<String> {
    let server = std::env::var(VARIABLE).ok()?;
    let schema = schema(folder);
    on_server(&server, &format!("create schema if not exists {schema}"));
    let sign = if server.contains('?') { '&' } else { '?' };
    Some(format!("{server}{sign}options=-csearch_path%3D{schema}"))
}

/// Removes the schema of a data folder, for tests that fill many.
pub fn drop_schema(folder: &Path) {
    if let Ok(server) = std::env::var(VARIABLE) {
        on_server(&server, &format!("drop schema if exists {} cascade", schema(folder)));
    }
}

fn schema(folder: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    format!("test_{:016x}", hasher.finish())
}

fn on_server(server: &str, sql: &str) {
    let address = PgAddress::parse(server, &|_| None).unwrap_or_else(|e| panic!("{e}"));
    let conn = connect::writing(&address).unwrap_or_else(|e| panic!("{server}: {e}"));
    conn.execute_batch(sql).unwrap_or_else(|e| panic!("{server}: {e}"));
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

/// Creates an empty store with the schema of an older version.
pub fn make_older(location: &Location, version: i64) {
    let name = location.shown();
    let conn = match location {
        Location::Folder(folder) => {
            std::fs::create_dir_all(folder).unwrap_or_else(|e| panic!("{name}: {e}"));
            connection::writing(&folder.join(FILE_NAME))
        }
        Location::Postgres(address) => connect::writing(address),
    };
    let conn = conn.unwrap_or_else(|e| panic!("{name}: {e}"));
    migrations::make(&conn, version).unwrap_or_else(|fault| panic!("{}", fault.at(&name)));
}

/// Returns the version of the schema of a store.
pub fn schema_version(location: &Location) -> Option<i64> {
    let (conn, name) = connect_to(location);
    migrations::version(&conn, &name).unwrap_or_else(|fault| panic!("{}", fault.at(&name)))
}

/// Runs SQL statements on a store, past all rules.
pub fn execute(location: &Location, sql: &str) {
    let (conn, name) = connect_to(location);
    conn.execute_batch(sql).unwrap_or_else(|e| panic!("{name}: {sql}: {e:?}"));
}

/// Makes the database refuse a change of a table (`insert`, `update` or `delete`), where an SQL
/// condition on the row holds. It stands for a full disk, or a fault of one row.
pub fn refuse(location: &Location, change: &str, table: &str, condition: &str) {
    let when = if condition.is_empty() { String::new() } else { format!("when ({condition})") };
    execute(
        location,
        &match location {
            Location::Folder(_) => format!(
                "create trigger refusal before {change} on {table} {when} \
                 begin select raise(abort, 'refused by a test'); end"
            ),
            Location::Postgres(_) => format!(
                "create function refusal() returns trigger language plpgsql as \
                 $$ begin raise exception 'refused by a test'; end $$; \
                 create trigger refusal before {change} on {table} for each row {when} \
                 execute function refusal()"
            ),
        },
    );
}

/// Ends what [`refuse`] began.
pub fn allow(location: &Location, table: &str) {
    let sql = match location {
        Location::Folder(_) => "drop trigger refusal".to_owned(),
        Location::Postgres(_) => {
            format!("drop trigger refusal on {table}; drop function refusal()")
        }
    };
    execute(location, &sql);
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

/// Returns two columns of whole numbers.
pub fn pairs(store: &Store, sql: &str) -> Vec<(i64, i64)> {
    let found = store.read(|conn| {
        let mut statement = conn.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    });
    found.unwrap_or_else(|e| panic!("{sql}: {e}"))
}

/// Counts the rows of each table that belong to accounts.
pub fn rows_of_accounts(store: &Store) -> BTreeMap<String, i64> {
    let counted = store.read(|conn| {
        let mut counts = BTreeMap::new();
        for table in transfer::tables_of_accounts()? {
            let sql = format!("select count(*) from \"{table}\" where account > 0");
            counts.insert(table, conn.query_row(&sql, [], |row| row.get(0))?);
        }
        Ok(counts)
    });
    counted.unwrap_or_else(|e| panic!("{e}"))
}
