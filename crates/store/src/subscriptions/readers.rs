//! How many people read a feed: subscribers who have read something lately. Counted now and then,
//! never while a poll is recorded.

use std::collections::HashMap;

use feed::{FeedId, Time};

use crate::db::columns::count;
use crate::db::dialect;
use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::subscriptions::scope::has_accounts;
use crate::{AccountId, Store, StoreError};

/// Feeds whose count is written in one transaction, so that polls do not wait for long.
const WRITTEN_AT_ONCE: usize = 500;

/// Notes that an account reads now, by the clock of the database. This writes once a day.
pub(crate) fn note_now(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    if account.0 <= 0 {
        return Ok(());
    }
    let now = dialect::now_ms(conn);
    let sql = format!(
        "update accounts set read_at = {now} \
         where id = $1 and coalesce(read_at, 0) < {now} - 86400000"
    );
    conn.prepare_cached(&sql)?.execute([account.0])?;
    Ok(())
}

impl Store {
    /// Notes that an account has read something at a time. Marks do this by themselves.
    pub fn note_reading(&self, account: AccountId, at: Time) -> Result<(), StoreError> {
        if account == AccountId::LOCAL {
            return Ok(());
        }
        self.write_own(move |conn| {
            let sql = "update accounts set read_at = $1 \
                       where id = $2 and coalesce(read_at, 0) < $1";
            conn.prepare_cached(sql)?.execute(params![at.millis(), account.0])?;
            Ok(())
        })
    }

    /// Counts the readers of every feed: subscribers who have read something since a time. Returns
    /// the feeds whose number has changed.
    pub fn count_readers(&self, since: Time) -> Result<Vec<FeedId>, StoreError> {
        let changed = self.read(|conn| {
            if !has_accounts(conn)? {
                return Ok(Vec::new());
            }
            let sql = "select s.feed, count(*) from accounts a \
                       join subscriptions s on s.account = a.id \
                       where a.read_at >= $1 group by s.feed";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement
                .query_map([since.millis()], |row| Ok((FeedId(row.get(0)?), count(row, 1)?)))?;
            let mut now: HashMap<FeedId, u64> = rows.collect::<Result<_, _>>()?;
            let mut statement = conn.prepare_cached("select id, readers from feeds order by id")?;
            let mut rows = statement.query([])?;
            let mut changed: Vec<(FeedId, u64)> = Vec::new();
            while let Some(row) = &rows.next()? {
                let feed = FeedId(row.get(0)?);
                let n = now.remove(&feed).unwrap_or(0);
                let before: Option<i64> = row.get(1)?;
                if before.map(i64::unsigned_abs) != Some(n) {
                    changed.push((feed, n));
                }
            }
            Ok(changed)
        })?;
        for part in changed.chunks(WRITTEN_AT_ONCE) {
            let part = part.to_vec();
            self.write(move |conn| {
                let mut statement =
                    conn.prepare_cached("update feeds set readers = $1 where id = $2")?;
                for (feed, n) in part {
                    statement.execute(params![n as i64, feed.0])?;
                }
                Ok(())
            })?;
        }
        Ok(changed.into_iter().map(|(feed, _)| feed).collect())
    }

    /// Forgets all counts, so that every feed has the same weight.
    pub fn forget_readers(&self) -> Result<(), StoreError> {
        let is_counted = self.read(|conn| {
            let sql = "select 1 from feeds where readers is not null limit 1";
            Ok(conn.prepare_cached(sql)?.exists([])?)
        })?;
        if is_counted {
            self.write(|conn| {
                conn.execute("update feeds set readers = null where readers is not null", [])?;
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Returns how many people read a feed, as counted last; `None` if nobody has counted.
    pub fn readers(&self, feed: FeedId) -> Result<Option<u64>, StoreError> {
        self.read(|conn| {
            let sql = "select readers from feeds where id = $1";
            let found: Option<i64> =
                conn.prepare_cached(sql)?.query_row([feed.0], |row| row.get(0))?;
            Ok(found.map(i64::unsigned_abs))
        })
    }
}
