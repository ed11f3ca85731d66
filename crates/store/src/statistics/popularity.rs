//! The popularity of feeds on the instance: subscribers, and what they opened in 30 days.

use std::collections::BTreeMap;

use feed::{FeedId, Time};

use crate::db::columns::count;
use crate::db::sql::{Connection, Row, params};
use crate::error::DbError;
use crate::statistics::counted::{IS_COUNTED, IS_OPEN};
use crate::statistics::opened::DAY_MS;
use crate::{Store, StoreError};

/// Feeds whose figures are written in one transaction, so that polls do not wait for long.
const WRITTEN_AT_ONCE: usize = 500;

/// The figures of a feed over all people who want to be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedPopularity {
    pub subscribers: u64,
    /// The people who opened something of it.
    pub openers: u64,
    pub opened: u64,
}

/// The order of popular feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopularityOrder {
    Subscribers,
    Opened,
}

/// The figures of all people together, as far as they want to be counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceFigures {
    /// Accounts, whether they want to be counted or not.
    pub accounts: u64,
    /// Accounts that are counted.
    pub counted: u64,
    pub subscriptions: u64,
    /// The accounts that opened something.
    pub openers: u64,
    /// The beginning of each day with opened entries, and their number.
    pub opened_by_day: Vec<(Time, u64)>,
}

impl Store {
    /// Calculates the popularity of every feed, with the entries opened since a time. Returns the
    /// number of feeds whose figures have changed.
    pub fn count_popularity(&self, since: Time) -> Result<usize, StoreError> {
        let first_day = since.millis().div_euclid(DAY_MS);
        let changed = self.read(|conn| {
            let mut now = subscribers(conn)?;
            let sql = format!(
                "select feed, count(distinct account), cast(sum(opened) as bigint) \
                 from opened_days where day >= $1 and {IS_COUNTED} and {IS_OPEN} group by feed"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.query([first_day])?;
            while let Some(row) = &rows.next()? {
                let one = now.entry(FeedId(row.get(0)?)).or_default();
                (one.openers, one.opened) = (count(row, 1)?, count(row, 2)?);
            }
            Ok(differences(&stored(conn)?, now))
        })?;
        for part in changed.chunks(WRITTEN_AT_ONCE) {
            let part = part.to_vec();
            self.write(move |conn| part.iter().try_for_each(|one| write(conn, *one)))?;
        }
        Ok(changed.len())
    }

    /// Returns the most popular feeds that rest on at least `people_min` people.
    pub fn popular_feeds(
        &self,
        order: PopularityOrder,
        people_min: u64,
        limit: u32,
    ) -> Result<Vec<(FeedId, FeedPopularity)>, StoreError> {
        let (people, column) = match order {
            PopularityOrder::Subscribers => ("subscribers", "subscribers"),
            PopularityOrder::Opened => ("openers", "opened"),
        };
        self.read(|conn| {
            let sql = format!(
                "select feed, subscribers, openers, opened from feed_popularity \
                 where {people} >= $1 and {IS_OPEN} order by {column} desc, feed desc limit $2"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map(params![people_min.cast_signed(), limit], popularity)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the figures of all people together, with the entries opened since a time.
    pub fn instance_figures(&self, since: Time) -> Result<InstanceFigures, StoreError> {
        let first_day = since.millis().div_euclid(DAY_MS);
        self.read(|conn| {
            let number = |sql: &str| -> Result<u64, DbError> {
                Ok(conn.prepare_cached(sql)?.query_row([], |row| count(row, 0))?)
            };
            let sql = format!(
                "select day, cast(sum(opened) as bigint) from opened_days \
                 where day >= $1 and {IS_COUNTED} and {IS_OPEN} group by day order by day"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([first_day], |row| {
                Ok((Time::from_millis(row.get::<_, i64>(0)? * DAY_MS), count(row, 1)?))
            })?;
            let opened_by_day = rows.collect::<Result<_, _>>()?;
            let sql = format!(
                "select count(distinct account) from opened_days \
                 where day >= $1 and {IS_COUNTED} and {IS_OPEN}"
            );
            let openers = conn.prepare_cached(&sql)?.query_row([first_day], |row| count(row, 0))?;
            Ok(InstanceFigures {
                accounts: number("select count(*) from accounts")?,
                counted: number(&format!(
                    "select count(*) from (select id as account from accounts) as one \
                     where {IS_COUNTED}"
                ))?,
                subscriptions: number(&format!(
                    "select count(*) from subscriptions where {IS_COUNTED} and {IS_OPEN}"
                ))?,
                openers,
                opened_by_day,
            })
        })
    }
}

fn subscribers(conn: &Connection) -> Result<BTreeMap<FeedId, FeedPopularity>, DbError> {
    let sql = format!(
        "select feed, count(*) from subscriptions where {IS_COUNTED} and {IS_OPEN} group by feed"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([], |row| {
        let one = FeedPopularity { subscribers: count(row, 1)?, ..FeedPopularity::default() };
        Ok((FeedId(row.get(0)?), one))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn popularity(row: &Row<'_>) -> crate::db::sql::Result<(FeedId, FeedPopularity)> {
    let (subscribers, openers, opened) = (count(row, 1)?, count(row, 2)?, count(row, 3)?);
    Ok((FeedId(row.get(0)?), FeedPopularity { subscribers, openers, opened }))
}

fn stored(conn: &Connection) -> Result<BTreeMap<FeedId, FeedPopularity>, DbError> {
    let sql = "select feed, subscribers, openers, opened from feed_popularity";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([], popularity)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the feeds whose figures differ. Those without any person get zeros.
fn differences(
    before: &BTreeMap<FeedId, FeedPopularity>,
    now: BTreeMap<FeedId, FeedPopularity>,
) -> Vec<(FeedId, FeedPopularity)> {
    let gone = before.keys().filter(|feed| !now.contains_key(feed));
    let mut changed: Vec<_> = gone.map(|feed| (*feed, FeedPopularity::default())).collect();
    changed.extend(now.into_iter().filter(|(feed, one)| before.get(feed) != Some(one)));
    changed
}

/// Writes the figures of a feed that still exists. Zeros have no row.
fn write(conn: &Connection, (feed, one): (FeedId, FeedPopularity)) -> Result<(), DbError> {
    if one == FeedPopularity::default() {
        let sql = "delete from feed_popularity where feed = $1";
        conn.prepare_cached(sql)?.execute([feed.0])?;
        return Ok(());
    }
    let sql = "insert into feed_popularity (feed, subscribers, openers, opened) \
               select id, $1, $2, $3 from feeds where id = $4 \
               on conflict (feed) do update set subscribers = excluded.subscribers, \
               openers = excluded.openers, opened = excluded.opened";
    let [subscribers, openers, opened] =
        [one.subscribers, one.openers, one.opened].map(u64::cast_signed);
    conn.prepare_cached(sql)?.execute(params![subscribers, openers, opened, feed.0])?;
    Ok(())
}
