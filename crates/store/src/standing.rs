//! How things stand, for whoever runs the instance: what is late, what fails and for how long, what
//! waits to be handed over, how large the files are. Each is one short question over small rows.

use feed::Time;

use crate::columns::count;
use crate::counts::POLLED;
use crate::identity::with_ending;
use crate::{Store, StoreError};

const HOUR_MS: i64 = 3_600_000;

/// What an operator looks at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Since when the feed that is due longest waits; `None`: nothing is late.
    pub due_since: Option<Time>,
    pub failing: Failing,
    pub queries: u64,
    /// Receivers whose last attempt failed, and all of them.
    pub receivers_failing: u64,
    pub receivers: u64,
    /// Matches not handed over yet, over all receivers.
    pub deliveries_waiting: u64,
    pub dead_letters: u64,
    /// Subscribers to published feeds who agreed to it.
    pub subscribers: u64,
    pub database_bytes: u64,
    /// The log beside it, which is taken in now and then.
    pub log_bytes: u64,
}

/// Failing feeds by how long ago the last poll succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failing {
    pub under_an_hour: u64,
    pub under_a_day: u64,
    pub under_a_week: u64,
    pub longer: u64,
    pub never: u64,
}

impl Store {
    pub fn standing(&self, now: Time) -> Result<Standing, StoreError> {
        let mut standing = self.read(|conn| {
            let sql = format!(
                "select min(case when {POLLED} and next_at <= $1 then next_at end), \
                       sum(failures > 0 and gone_at is null and last_success_at > $2), \
                       sum(failures > 0 and gone_at is null and last_success_at <= $2 \
                           and last_success_at > $3), \
                       sum(failures > 0 and gone_at is null and last_success_at <= $3 \
                           and last_success_at > $4), \
                       sum(failures > 0 and gone_at is null and last_success_at <= $4), \
                       sum(failures > 0 and gone_at is null and last_success_at is null) \
                       from feed_state"
            );
            let now = now.millis();
            let ago = |hours: i64| now - hours * HOUR_MS;
            let sum = |row: &rusqlite::Row<'_>, column: usize| -> rusqlite::Result<u64> {
                Ok(row.get::<_, Option<i64>>(column)?.unwrap_or(0).unsigned_abs())
            };
            let (due_since, failing) = conn.prepare_cached(&sql)?.query_row(
                [now, ago(1), ago(24), ago(7 * 24)],
                |row| {
                    let failing = Failing {
                        under_an_hour: sum(row, 1)?,
                        under_a_day: sum(row, 2)?,
                        under_a_week: sum(row, 3)?,
                        longer: sum(row, 4)?,
                        never: sum(row, 5)?,
                    };
                    Ok((row.get::<_, Option<i64>>(0)?.map(Time::from_millis), failing))
                },
            )?;
            // Positions have holes where entries were dropped: what waits is counted.
            let sql = "select (select count(*) from queries), count(*), \
                       coalesce(sum(d.attempts > 0), 0), \
                       coalesce(sum((select count(*) from query_entries e \
                       where e.query = d.query and e.position > d.position)), 0), \
                       (select count(*) from dead_letters), \
                       (select count(*) from hub_subscriptions where lease_until > $1) \
                       from deliveries d";
            conn.prepare_cached(sql)?
                .query_row([now], |row| {
                    Ok(Standing {
                        due_since,
                        failing,
                        queries: count(row, 0)?,
                        receivers: count(row, 1)?,
                        receivers_failing: count(row, 2)?,
                        deliveries_waiting: count(row, 3)?,
                        dead_letters: count(row, 4)?,
                        subscribers: count(row, 5)?,
                        ..Standing::default()
                    })
                })
                .map_err(Into::into)
        })?;
        let bytes = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
        standing.database_bytes = bytes(self.path());
        standing.log_bytes = bytes(&with_ending(self.path(), "-wal"));
        Ok(standing)
    }
}
