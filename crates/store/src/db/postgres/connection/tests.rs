//! Commits, errors and names of transactions on a connection. Needs PostgreSQL.

use crate::ErrorKind;
use crate::db::postgres::connect;
use crate::db::sql::Connection;
use crate::{PgAddress, testing};

/// A connection to a schema of its own; `None` without a server.
fn connection(folder: &tempfile::TempDir) -> Option<Connection> {
    let address = PgAddress::parse(&testing::url(folder.path())?, &|_| None).unwrap();
    Some(connect::writing(&address).unwrap())
}

#[test]
fn a_commit_of_a_failed_transaction_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let Some(conn) = connection(&folder) else { return };
    conn.execute_batch("create table t (n bigint)").unwrap();
    conn.begin_writing().unwrap();
    conn.execute("insert into t values (1)", []).unwrap();
    // Nobody waits for the answer of this statement.
    conn.control("select 1 / 0").unwrap();
    assert!(conn.control("commit").is_err());
    if !conn.is_autocommit() {
        conn.control("rollback").unwrap();
    }
    conn.begin_writing().unwrap();
    let n: i64 = conn.query_row("select count(*) from t", [], |row| row.get(0)).unwrap();
    assert_eq!(n, 0);
    conn.execute("insert into t values (2)", []).unwrap();
    conn.control("commit").unwrap();
    let n: i64 = conn.query_row("select count(*) from t", [], |row| row.get(0)).unwrap();
    assert_eq!(n, 1);
}

#[test]
fn a_value_that_does_not_fit_is_no_lost_connection() {
    let folder = tempfile::tempdir().unwrap();
    let Some(conn) = connection(&folder) else { return };
    let sql = "select $1::int4";
    let error = conn.query_row(sql, [i64::MAX], |row| row.get::<_, i64>(0)).unwrap_err();
    assert!(error.kind() == ErrorKind::Other && !error.is_disconnected(), "{error:?}");
    assert_eq!(conn.query_row(sql, [5], |row| row.get::<_, i64>(0)).unwrap(), 5);
}

#[test]
fn a_guest_learns_the_name_of_its_transaction_with_the_first_statement() {
    let folder = tempfile::tempdir().unwrap();
    let Some(conn) = connection(&folder) else { return };
    let postgres = conn.postgres().unwrap();
    for _ in 0..2 {
        postgres.begin_named().unwrap();
        assert_eq!(postgres.take_name(), None);
        let number: String =
            conn.query_row("select pg_current_xact_id()::text", [], |row| row.get(0)).unwrap();
        let name = postgres.take_name().unwrap();
        assert!(name.starts_with(&format!("{number} ")), "{name}");
        conn.control("commit").unwrap();
    }
}
