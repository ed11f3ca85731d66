//! Totals for metrics and page, in one pass over the small rows; no entry and no poll is touched.

use feed::Time;

use crate::columns::count;
use crate::{Store, StoreError};

/// How things stand in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub feeds: u64,
    /// Entries whose text is kept.
    pub entries: u64,
    /// Polls ever made of the feeds there are.
    pub polls: u64,
    pub never_polled: u64,
    /// Feeds whose last poll did not succeed and that are not gone.
    pub failing: u64,
    pub gone: u64,
    /// Paused by their own setting; by tag is not counted.
    pub paused: u64,
    /// Neither gone nor paused, and their time has come.
    pub due: u64,
    /// Domains that want to be left alone for now.
    pub domains_held: u64,
}

impl Store {
    pub fn counts(&self, now: Time) -> Result<Counts, StoreError> {
        self.read(|conn| {
            let sql = "select count(*), coalesce(sum(entries), 0), coalesce(sum(generation), 0), \
                       coalesce(sum(case when last_poll_at is null then 1 else 0 end), 0), \
                       coalesce(sum(case when failures > 0 and gone_at is null \
                                    then 1 else 0 end), 0), \
                       coalesce(sum(case when gone_at is not null then 1 else 0 end), 0), \
                       coalesce(sum(case when paused = 1 then 1 else 0 end), 0), \
                       coalesce(sum(case when gone_at is null and coalesce(paused, 0) = 0 \
                                    and coalesce(next_at, $1) <= $1 then 1 else 0 end), 0) \
                       from feed_state";
            let mut counts = conn.prepare_cached(sql)?.query_row([now.millis()], |row| {
                Ok(Counts {
                    feeds: count(row, 0)?,
                    entries: count(row, 1)?,
                    polls: count(row, 2)?,
                    never_polled: count(row, 3)?,
                    failing: count(row, 4)?,
                    gone: count(row, 5)?,
                    paused: count(row, 6)?,
                    due: count(row, 7)?,
                    domains_held: 0,
                })
            })?;
            let sql = "select count(*) from domains where not_before > $1";
            counts.domains_held =
                conn.prepare_cached(sql)?.query_row([now.millis()], |row| count(row, 0))?;
            Ok(counts)
        })
    }
}
