//! Limits of what one reader may have. Administrators have none: they may also use the command line
//! of the instance. The limits of rules, labels, tokens, devices and services stand with them.

use crate::db::columns::count;
use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::{AccountId, StoreError};

/// More feeds than the longest lists that people have. The limit bounds the time of every list of
/// this account, and the polls that one person causes.
const SUBSCRIPTIONS_MAX: u64 = 5_000;
/// As for rules: the limit bounds the work for each new entry.
const QUERIES_MAX: u64 = 200;

/// Refuses a change after which a reader has too many subscriptions.
pub(crate) fn check_subscriptions(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    let sql = "select count(*) from subscriptions s where s.account = $1 \
               and exists (select 1 from accounts a where a.id = $1 and a.role = 'reader')";
    check(conn, sql, account, "subscriptions", SUBSCRIPTIONS_MAX)
}

/// Refuses a change after which a reader has too many queries.
pub(crate) fn check_queries(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    let sql = "select count(*) from queries q where q.owner = $1 \
               and exists (select 1 from accounts a where a.id = $1 and a.role = 'reader')";
    check(conn, sql, account, "queries", QUERIES_MAX)
}

fn check(
    conn: &Connection,
    sql: &str,
    account: AccountId,
    what: &'static str,
    most: u64,
) -> Result<(), DbError> {
    let n = conn.prepare_cached(sql)?.query_row(params![account.0], |row| count(row, 0))?;
    if n > most { Err(StoreError::TooMany { what, most }.into()) } else { Ok(()) }
}
