//! The last changes of each account, with their undo. They are a stack: the last change is undone
//! first, because an earlier one does not know what later ones did to the same feeds.

use std::time::Duration;

use feed::Time;

use super::{BulkBefore, BulkScope};
use crate::bulk::BulkDone;
use crate::db::columns::{count, time};
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::{AccountId, FEEDS_AT_ONCE_MAX, Store, StoreError};

/// How long a change can be undone: until the next day.
pub const BULK_UNDO_LASTS: Duration = Duration::from_secs(86_400);
/// Changes that are kept for one account.
const KEPT_MAX: usize = 20;
/// The bytes that they have together.
const KEPT_BYTES_MAX: i64 = 8 << 20;
/// The bytes of one change: 20,000 feeds that get ten tags are about 1.3 MB.
const UNDO_BYTES_MAX: usize = 4 << 20;

/// A change that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkRow {
    pub number: i64,
    pub at: Time,
    /// The change in words.
    pub what: String,
    pub n_feeds: u64,
}

impl Store {
    /// Returns the changes that an account can still undo, the last one first.
    pub fn bulk_changes(&self, account: AccountId, now: Time) -> Result<Vec<BulkRow>, StoreError> {
        self.read(|conn| {
            let sql = "select number, at, what, feeds from bulk_changes \
                       where account = $1 and at > $2 order by number desc";
            let mut statement = conn.prepare_cached(sql)?;
            let since = (now - BULK_UNDO_LASTS).millis();
            let rows = statement.query_map(params![account.0, since], |row| {
                let what = row.get(2)?;
                Ok(BulkRow {
                    number: row.get(0)?,
                    at: time(row, 1)?,
                    what,
                    n_feeds: count(row, 3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Undoes the last change of an account. With a number, only if it is that of the last change.
    /// `None`: there is nothing to undo. A scope for one account cannot undo a change of the
    /// instance: its actor may have been an administrator when they made it.
    pub fn undo_bulk(
        &self,
        scope: BulkScope,
        number: Option<i64>,
        now: Time,
    ) -> Result<Option<(BulkRow, BulkDone)>, StoreError> {
        let account = scope.actor;
        let Some(last) = self.bulk_changes(account, now)?.into_iter().next() else {
            return Ok(None);
        };
        if number.is_some_and(|number| number != last.number) {
            return Ok(None);
        }
        self.write(move |conn| {
            // The row is gone if another process was faster.
            let sql = "delete from bulk_changes where account = $1 and number = $2 \
                       and number = (select max(number) from bulk_changes where account = $1) \
                       returning undo";
            let mut statement = conn.prepare_cached(sql)?;
            let undo: Option<String> =
                statement.query_row([account.0, last.number], |row| row.get(0)).optional()?;
            let before = undo.and_then(|text| serde_json::from_str::<BulkBefore>(&text).ok());
            let Some(before) = before else { return Ok(None) };
            if before.is_of_instance() && scope.owner != AccountId::LOCAL {
                return Err(StoreError::NeedsAdmin.into());
            }
            let touched = before.restore(conn)?;
            let n_feeds = usize::try_from(last.n_feeds).unwrap_or(usize::MAX);
            Ok(Some((last, BulkDone { number: None, n_feeds, touched })))
        })
    }
}

/// Keeps the undo of a change and returns its number. Old ones go.
pub(super) fn keep(
    conn: &Connection,
    account: AccountId,
    what: &str,
    n_feeds: usize,
    before: &BulkBefore,
    now: Time,
) -> Result<i64, DbError> {
    let Some(undo) = serde_json::to_string(before).ok().filter(|text| text.len() <= UNDO_BYTES_MAX)
    else {
        return Err(StoreError::TooManyFeeds { most: FEEDS_AT_ONCE_MAX }.into());
    };
    let since = (now - BULK_UNDO_LASTS).millis();
    conn.execute("delete from bulk_changes where at <= $1", [since])?;
    let sql = "select coalesce(max(number), 0) from bulk_changes where account = $1";
    let last: i64 = conn.prepare_cached(sql)?.query_row([account.0], |row| row.get(0))?;
    // The number of an undone change is not given again while the clock goes forward.
    let number = (last + 1).max(now.millis());
    let sql = "insert into bulk_changes (account, number, at, what, feeds, bytes, undo) \
               values ($1, $2, $3, $4, $5, $6, $7)";
    let (feeds, bytes) = (n_feeds as i64, undo.len() as i64);
    let values = params![account.0, number, now.millis(), what, feeds, bytes, undo];
    conn.prepare_cached(sql)?.execute(values)?;
    forget_oldest(conn, account)?;
    Ok(number)
}

fn forget_oldest(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    let sql = "select number, bytes from bulk_changes where account = $1 order by number desc";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([account.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let kept: Vec<(i64, i64)> = rows.collect::<Result<_, _>>()?;
    let mut sum = 0;
    for (place, (number, bytes)) in kept.into_iter().enumerate() {
        sum += bytes;
        if place >= KEPT_MAX || sum > KEPT_BYTES_MAX {
            let sql = "delete from bulk_changes where account = $1 and number <= $2";
            conn.execute(sql, [account.0, number])?;
            break;
        }
    }
    Ok(())
}
