//! The number of pages asked for on each day, and what sites say in robots.txt.

use feed::Time;

use crate::db::columns::{count, time};
use crate::db::sql::{OptionalExtension, params};
use crate::{Store, StoreError};

const DAY_MS: i64 = 86_400_000;

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

    /// Counts a page that is asked for, and forgets earlier days.
    pub async fn count_article(&self, domain: String, now: Time) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let day = now.millis().div_euclid(DAY_MS);
            let sql = "insert into article_days (domain, day, n) values ($1, $2, 1) \
                       on conflict (domain, day) do update set n = article_days.n + 1";
            for name in [domain.as_str(), ""] {
                conn.prepare_cached(sql)?.execute(params![name, day])?;
            }
            conn.prepare_cached("delete from article_days where day < $1")?.execute([day])?;
            Ok(())
        })
        .await
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

    /// Stores the rules of a site, and deletes those that expired more than a day ago.
    pub async fn put_robots(&self, row: RobotsRow) -> Result<(), StoreError> {
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
