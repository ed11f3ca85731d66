//! The counts of one account: what it has opened, by feed and by hour, and how many entries its
//! feeds had.

use feed::{FeedId, Time};

use crate::db::columns::count;
use crate::db::sql::Value;
use crate::statistics::opened::{DAY_MS, HOUR_MS};
use crate::{AccountId, Store, StoreError};

/// Entries of one feed that are counted at most, so that no page walks over an archive.
pub const ENTRIES_COUNTED_MAX: u64 = 1000;

/// The entries that an account has opened since a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenedCounts {
    /// The first day with a count, also before that time; `None`: nothing was counted.
    pub counted_since: Option<Time>,
    /// The number of opened entries of each feed, the most first.
    pub by_feed: Vec<(FeedId, u64)>,
    /// The beginning of each hour with opened entries, in ascending order, and their number.
    pub by_hour: Vec<(Time, u64)>,
}

impl Store {
    /// Returns what an account has opened since the day of a time.
    pub fn opened_counts(
        &self,
        account: AccountId,
        since: Time,
    ) -> Result<OpenedCounts, StoreError> {
        let first_day = since.millis().div_euclid(DAY_MS);
        let first_hour = first_day * (DAY_MS / HOUR_MS);
        self.read(|conn| {
            let sql = "select min(day) from opened_days where account = $1";
            let first: Option<i64> =
                conn.prepare_cached(sql)?.query_row([account.0], |row| row.get(0))?;
            let sql = "select feed, cast(sum(opened) as bigint) from opened_days \
                       where account = $1 and day >= $2 group by feed order by 2 desc, feed";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([account.0, first_day], |row| {
                Ok((FeedId(row.get(0)?), count(row, 1)?))
            })?;
            let by_feed = rows.collect::<Result<_, _>>()?;
            let sql = "select hour, opened from opened_hours \
                       where account = $1 and hour >= $2 order by hour";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([account.0, first_hour], |row| {
                Ok((Time::from_millis(row.get::<_, i64>(0)? * HOUR_MS), count(row, 1)?))
            })?;
            Ok(OpenedCounts {
                counted_since: first.map(|day| Time::from_millis(day * DAY_MS)),
                by_feed,
                by_hour: rows.collect::<Result<_, _>>()?,
            })
        })
    }

    /// Returns how many stored entries each of these feeds published since a time, and since the
    /// account subscribed to it, at most [`ENTRIES_COUNTED_MAX`] each, in the order of the feeds.
    pub fn entries_since(
        &self,
        account: AccountId,
        feeds: &[FeedId],
        since: Time,
    ) -> Result<Vec<u64>, StoreError> {
        self.read(|conn| {
            let sql = "select count(*) from (select 1 from entries \
                       where feed = $1 and published_at >= $2 and published_at >= coalesce(\
                        (select subscribed_at from subscriptions \
                         where feed = $1 and account = $3), \
                        (select added_at from feeds where id = $1)) limit $4) as newest";
            let keys: Vec<Value<'_>> =
                feeds.iter().map(|feed| Value::Int(i64::from(feed.0))).collect();
            let limit = ENTRIES_COUNTED_MAX.cast_signed();
            let others = [Value::Int(since.millis()), Value::Int(account.0), Value::Int(limit)];
            Ok(conn.prepare_cached(sql)?.each(&keys, &others, |_, row| count(row, 0))?)
        })
    }
}
