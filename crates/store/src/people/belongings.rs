//! The rows of a person in tables that other modules fill: the first account takes them over, and
//! they go with their account. It knows the names of the tables only.

use crate::AccountId;
use crate::db::sql::Connection;
use crate::error::DbError;

/// Tables with a column `account`. Other tables depend on these. The local person has no rows in
/// `subscriptions` and `account_tags` (see `feeds::takeover`); these go with the row of an account.
const TABLES: [&str; 16] = [
    "stars",
    "read_marks",
    "reading_choices",
    "playback_positions",
    "share_targets",
    "pending_marks",
    "move_ins",
    "rules",
    "labels",
    "hidden_marks",
    "notifications",
    "push_devices",
    "opened_marks",
    "opened_days",
    "opened_hours",
    "dismissed_feeds",
];
/// The undos of the local person are not taken over: they are of that person's marks and tags.
const UNDOS: [&str; 2] = ["read_undo", "bulk_changes"];

/// Gives the rows of the local person to the first account.
pub(super) fn adopt(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    let version = count_rule_change(conn)?;
    // The engine reads a rule again if its version has changed.
    let sql = "update rules set version = $1 where account = $2";
    conn.execute(sql, [version, AccountId::LOCAL.0])?;
    for table in TABLES {
        let sql = format!("update {table} set account = $1 where account = $2");
        conn.execute(&sql, [account.0, AccountId::LOCAL.0])?;
    }
    Ok(())
}

/// Deletes the rows of an account.
pub(super) fn forget(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    count_rule_change(conn)?;
    for table in TABLES.into_iter().chain(UNDOS) {
        conn.execute(&format!("delete from {table} where account = $1"), [account.0])?;
    }
    Ok(())
}

/// Counts a change of rules and returns the new version. Its row is locked until the change is
/// committed, so that no step of the rules runs meanwhile.
pub(crate) fn count_rule_change(conn: &Connection) -> Result<i64, DbError> {
    let sql = "update rule_progress set version = version + 1 returning version";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}
