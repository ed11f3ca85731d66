//! The number of pages asked for on each day, and what sites say in robots.txt.

use feed::{INDEXED_ADDRESS_MAX, Time};

use crate::db::columns::{count, time};
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::{Store, StoreError};

const DAY_MS: i64 = 86_400_000;

/// The name under which pages of people are counted. It cannot be a domain.
const OF_PEOPLE: &str = "of people";

/// Counts a page that is asked for, and forgets earlier days. A page of a domain counts for it and
/// for all, a page that a person asked for counts by itself.
pub(super) fn count_page(
    conn: &Connection,
    domain: Option<&str>,
    now: Time,
) -> Result<(), DbError> {
    let day = now.millis().div_euclid(DAY_MS);
    let sql = "insert into article_days (domain, day, n) values ($1, $2, 1) \
               on conflict (domain, day) do update set n = article_days.n + 1";
    let names = domain.map_or(vec![OF_PEOPLE], |domain| vec![domain, ""]);
    for name in names {
        conn.prepare_cached(sql)?.execute(params![name, day])?;
    }
    conn.prepare_cached("delete from article_days where day < $1")?.execute([day])?;
    Ok(())
}

/// The rules of a site from its robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsRow {
    /// Scheme, host and port, such as `https://example.org`.
    pub origin: String,
    pub fetched_at: Time,
    pub expires_at: Time,
    /// The lines that hold for us.
    pub rules: String,
}

impl Store {
    /// Returns how many pages were asked for today: of a registrable domain, and of all.
    pub fn articles_today(&self, domain: &str, now: Time) -> Result<(u64, u64), StoreError> {
        self.read(|conn| {
            let sql = "select n from article_days where domain = $1 and day = $2";
            let mut statement = conn.prepare_cached(sql)?;
            let day = now.millis().div_euclid(DAY_MS);
            let mut n = |domain: &str| {
                statement.query_row(params![domain, day], |row| count(row, 0)).optional()
            };
            Ok((n(domain)?.unwrap_or(0), n("")?.unwrap_or(0)))
        })
    }

    /// Returns how many pages people asked for today, with those of entries that they opened.
    pub fn articles_of_people_today(&self, now: Time) -> Result<u64, StoreError> {
        self.articles_today(OF_PEOPLE, now).map(|(n, _)| n)
    }

    /// Returns the stored rules of a site, also if they have expired.
    pub fn robots(&self, origin: &str) -> Result<Option<RobotsRow>, StoreError> {
        self.read(|conn| {
            let sql = "select origin, fetched_at, expires_at, rules from robots where origin = $1";
            let found = conn.prepare_cached(sql)?.query_row([origin], |row| {
                Ok(RobotsRow {
                    origin: row.get(0)?,
                    fetched_at: time(row, 1)?,
                    expires_at: time(row, 2)?,
                    rules: row.get(3)?,
                })
            });
            Ok(found.optional()?)
        })
    }

    /// Stores the rules of a site, and deletes those that expired more than a day ago. Leaves out a
    /// site whose name is too long to exist.
    pub async fn put_robots(&self, row: RobotsRow) -> Result<(), StoreError> {
        if row.origin.len() > INDEXED_ADDRESS_MAX {
            return Ok(());
        }
        self.write_async(move |conn| {
            let sql = "insert into robots (origin, fetched_at, expires_at, rules) \
                       values ($1, $2, $3, $4) on conflict (origin) do update set \
                       fetched_at = excluded.fetched_at, expires_at = excluded.expires_at, \
                       rules = excluded.rules";
            let RobotsRow { origin, fetched_at, expires_at, rules } = &row;
            let values = params![origin, fetched_at.millis(), expires_at.millis(), rules];
            conn.prepare_cached(sql)?.execute(values)?;
            let sql = "delete from robots where expires_at < $1";
            conn.prepare_cached(sql)?.execute([fetched_at.millis() - DAY_MS])?;
            Ok(())
        })
        .await
    }
}
