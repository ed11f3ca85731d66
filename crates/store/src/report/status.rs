//! The status of the instance for its operator: late and failing feeds, waiting deliveries, and the
//! size of the files. Each figure is one short query over small rows.

use feed::Time;

use crate::db::sql::{Connection, OptionalExtension};

use crate::db::columns::count;
use crate::db::dialect;
use crate::db::file_identity::with_ending;
use crate::error::DbError;
use crate::{FeedState, Location, Store, StoreError};

const HOUR_MS: i64 = 3_600_000;

/// The status of the instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstanceStatus {
    /// The due time of the feed that has waited longest; `None` if nothing is late.
    pub due_since: Option<Time>,
    pub failing: FailingFeeds,
    pub queries: u64,
    /// Receivers whose last attempt failed.
    pub receivers_failing: u64,
    pub receivers: u64,
    /// Matches not delivered yet, over all receivers.
    pub deliveries_waiting: u64,
    pub dead_letters: u64,
    /// Verified subscribers of our hub.
    pub subscribers: u64,
    pub database_bytes: u64,
    /// The size of the write-ahead log.
    pub log_bytes: u64,
}

/// Failing feeds by how long ago the last poll succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailingFeeds {
    pub under_an_hour: u64,
    pub under_a_day: u64,
    pub under_a_week: u64,
    pub longer: u64,
    pub never: u64,
}

/// The earliest due time of a state.
pub(crate) const FIRST_DUE: &str = "select coalesce(next_at, 0) from feed_state \
    where state = $1 and coalesce(next_at, 0) > 0 order by coalesce(next_at, 0) limit 1";

/// Failing feeds whose last success falls into a range of time. The conditions are those of the
/// index.
pub(crate) fn failing_within(conn: &Connection) -> String {
    let table = dialect::feed_orders(conn);
    format!(
        "select count(*) from {table} \
         where state in (2, 3) and last_success_at > $1 and last_success_at <= $2"
    )
}

/// Failing feeds that never succeeded.
pub(crate) fn failing_ever(conn: &Connection) -> String {
    let table = dialect::feed_orders(conn);
    format!("select count(*) from {table} where state in (2, 3) and last_success_at is null")
}

impl Store {
    pub fn status(&self, now: Time) -> Result<InstanceStatus, StoreError> {
        let mut status = self.read(|conn| {
            let now = now.millis();
            let (due_since, failing) = (due_since(conn, now)?, failing(conn, now)?);
            // Positions have gaps after deleted entries, so the waiting matches are counted.
            let sql = "select (select count(*) from queries), count(*), \
                       coalesce(sum(case when d.attempts > 0 then 1 else 0 end), 0), \
                       coalesce(sum((select count(*) from query_entries e \
                       where e.query = d.query and e.position > d.position)), 0), \
                       (select count(*) from dead_letters), \
                       (select count(*) from hub_subscriptions where lease_until > $1) \
                       from deliveries d";
            conn.prepare_cached(sql)?
                .query_row([now], |row| {
                    Ok(InstanceStatus {
                        due_since,
                        failing,
                        queries: count(row, 0)?,
                        receivers: count(row, 1)?,
                        receivers_failing: count(row, 2)?,
                        deliveries_waiting: count(row, 3)?,
                        dead_letters: count(row, 4)?,
                        subscribers: count(row, 5)?,
                        ..InstanceStatus::default()
                    })
                })
                .map_err(Into::into)
        })?;
        if let Location::Postgres(_) = self.location() {
            status.database_bytes = self.read(|conn| Ok(dialect::table_bytes(conn)?))?;
            return Ok(status);
        }
        let bytes = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
        status.database_bytes = bytes(self.path());
        status.log_bytes = bytes(&with_ending(self.path(), "-wal"));
        Ok(status)
    }
}

/// Returns the due time of the feed that has waited longest.
fn due_since(conn: &Connection, now: i64) -> Result<Option<Time>, DbError> {
    let mut statement = conn.prepare_cached(FIRST_DUE)?;
    let mut first: Option<i64> = None;
    for state in FeedState::ALL.into_iter().filter(|state| state.is_polled()) {
        let at = statement.query_row([state.code()], |row| row.get::<_, i64>(0)).optional()?;
        first = first.into_iter().chain(at).min();
    }
    Ok(first.filter(|at| *at <= now).map(Time::from_millis))
}

fn failing(conn: &Connection, now: i64) -> Result<FailingFeeds, DbError> {
    let mut statement = conn.prepare_cached(&failing_within(conn))?;
    let ago = |hours: i64| now - hours * HOUR_MS;
    let mut between = |after: i64, up_to: i64| {
        statement.query_row([after, up_to], |row| count(row, 0)).map_err(DbError::from)
    };
    Ok(FailingFeeds {
        under_an_hour: between(ago(1), i64::MAX)?,
        under_a_day: between(ago(24), ago(1))?,
        under_a_week: between(ago(7 * 24), ago(24))?,
        longer: between(i64::MIN, ago(7 * 24))?,
        never: conn.prepare_cached(&failing_ever(conn))?.query_row([], |row| count(row, 0))?,
    })
}
