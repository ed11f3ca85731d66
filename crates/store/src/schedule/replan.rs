//! Changes of the schedule that are not polls: new settings, clock jumps, and failures that are
//! taken back.

use std::time::Duration;

use crate::db::sql::{OptionalExtension, params};
use feed::{FeedId, Time};

use crate::feeds::settings::put_setting;
use crate::feeds::state;
use crate::{FeedDueTime, Store, StoreError};

/// A new decision about the next poll of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replan {
    /// The feed's generation at the decision. A poll recorded since then makes the decision stale.
    pub generation: u32,
    pub wanted_at: Time,
    pub next_at: Time,
    /// The reason in words, and as a code.
    pub reason: String,
    pub cause: String,
    /// In words: why `next_at` differs from `wanted_at`.
    pub held: Option<String>,
}

/// The polls that a budget strategy expects for the feeds that it polled recently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedPolls {
    pub feeds: Vec<ExpectedPoll>,
    /// The state of the strategy, for the next start.
    pub progress: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedPoll {
    pub feed: FeedId,
    /// The feed's generation. A poll recorded since then makes the expectation stale.
    pub generation: u32,
    /// `None` if the time is not known beforehand.
    pub at: Option<Time>,
    /// Why, in words and in short.
    pub reason: String,
    pub cause: String,
}

/// The key of the strategy's state in the settings.
const PROGRESS: &str = "budget-progress";

impl Store {
    /// Stores the expected polls and the state of a strategy.
    pub async fn store_expected_polls(&self, outlook: ExpectedPolls) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update feed_state set wanted_at = $1, next_at = coalesce($1, next_at), \
                       reason = $2, cause = $3 where feed = $4 and generation = $5";
            let mut statement = conn.prepare_cached(sql)?;
            for row in &outlook.feeds {
                let at = row.at.map(Time::millis);
                let values = params![at, row.reason, row.cause, row.feed.0, row.generation];
                if statement.execute(values)? > 0 {
                    state::refresh(conn, row.feed)?;
                }
            }
            let hex: String = outlook.progress.iter().map(|b| format!("{b:02x}")).collect();
            put_setting(conn, PROGRESS, Some(&hex))
        })
        .await
    }

    /// Returns the stored state of the strategy; empty if there is none.
    pub fn strategy_progress(&self) -> Result<Vec<u8>, StoreError> {
        let hex = self.setting(PROGRESS)?.unwrap_or_default();
        let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
        Ok((0..hex.len()).step_by(2).map_while(byte).collect())
    }

    /// Changes the time of the next polls of feeds. Skips feeds with a poll recorded since the
    /// decision and returns them. Fails without any change if a feed does not exist.
    pub fn replan(&self, replans: Vec<(FeedId, Replan)>) -> Result<Vec<FeedId>, StoreError> {
        self.write(move |conn| {
            let sql = "update feed_state set wanted_at = $1, next_at = $2, reason = $3, \
                       cause = $4, held = $5 where feed = $6 and generation = $7";
            let mut statement = conn.prepare_cached(sql)?;
            let mut exists = conn.prepare_cached("select 1 from feed_state where feed = $1")?;
            let mut stale = Vec::new();
            for (feed, replan) in replans {
                let changed = statement.execute(params![
                    replan.wanted_at.millis(),
                    replan.next_at.millis(),
                    replan.reason,
                    replan.cause,
                    replan.held,
                    feed.0,
                    replan.generation,
                ])?;
                if changed == 0 && !exists.exists([feed.0])? {
                    return Err(StoreError::NoFeed(feed).into());
                }
                if changed > 0 {
                    state::refresh(conn, feed)?;
                } else {
                    stale.push(feed);
                }
            }
            Ok(stale)
        })
    }

    /// Moves all stored times back after the clock jumped back, so that they keep their distance
    /// from now, like the plan in memory. `by` is the size of the jump. If it is unknown, it
    /// follows for each feed and domain from its last poll or request.
    pub fn set_back(&self, by: Option<Duration>, now: Time) -> Result<(), StoreError> {
        self.write(move |conn| {
            let now = now.millis();
            let by = by.map(|by| i64::try_from(by.as_millis()).unwrap_or(i64::MAX));
            // The last poll is set to now, because the next start would otherwise move the times
            // again.
            let sql = "update feed_state set \
                       next_at = next_at - coalesce(cast($1 as bigint), last_poll_at - $2), \
                       wanted_at = wanted_at - coalesce(cast($1 as bigint), last_poll_at - $2), \
                       last_poll_at = case when last_poll_at > $2 then $2 else last_poll_at end \
                       where cast($1 as bigint) is not null or last_poll_at > $2";
            conn.execute(sql, params![by, now])?;
            let sql = "update domains set \
                       not_before = not_before \
                       - coalesce(cast($1 as bigint), last_request_at - $2), \
                       last_request_at = case when last_request_at > $2 then $2 \
                                         else last_request_at end \
                       where cast($1 as bigint) is not null or last_request_at > $2";
            conn.execute(sql, params![by, now])?;
            state::refresh_loads(conn)
        })
    }

    /// Takes one failure back from feeds that failed because of our own network, and schedules them
    /// at `next_at`. Returns the feeds that had a failure.
    pub async fn forgive(
        &self,
        feeds: &[FeedId],
        next_at: Time,
        why: &str,
    ) -> Result<Vec<FeedId>, StoreError> {
        let (feeds, why) = (feeds.to_vec(), why.to_owned());
        self.write_async(move |conn| {
            let sql = "update feed_state set failures = failures - 1, next_at = $1, held = $2 \
                       where feed = $3 and failures > 0 returning feed";
            let mut statement = conn.prepare_cached(sql)?;
            let mut forgiven = Vec::new();
            for feed in feeds {
                let found: Option<u32> = statement
                    .query_row(params![next_at.millis(), why, feed.0], |row| row.get(0))
                    .optional()?;
                if found.is_some() {
                    state::refresh(conn, feed)?;
                }
                forgiven.extend(found.map(FeedId));
            }
            Ok(forgiven)
        })
        .await
    }

    /// Returns all feeds by number, or those with a tag.
    pub fn feed_ids(&self, tag: Option<&str>) -> Result<Vec<FeedId>, StoreError> {
        self.read(|conn| {
            let sql = "select id from feeds where cast($1 as text) is null \
                       or id in (select feed from feed_tags where tag = $1) order by id";
            let mut statement = conn.prepare_cached(sql)?;
            let ids = statement.query_map([tag], |row| row.get(0).map(FeedId))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the feeds that are due at `now`, the longest overdue first. A feed with a last poll
    /// in the future was scheduled before the clock jumped back; it is due too.
    pub fn due_feeds(&self, now: Time) -> Result<Vec<FeedId>, StoreError> {
        let index = self.due_index()?;
        let is_due = |due: &&FeedDueTime| {
            let is_ahead = due.last_poll_at.is_some_and(|last| last > now);
            is_ahead || due.next_at.is_none_or(|at| at <= now)
        };
        let mut due: Vec<_> = index.due.iter().filter(is_due).collect();
        due.sort_by_key(|d| d.next_at);
        Ok(due.into_iter().map(|d| d.feed).collect())
    }

    /// Returns the latest time of any stored poll. Reads every poll.
    pub fn latest_poll_at(&self) -> Result<Option<Time>, StoreError> {
        self.read(|conn| {
            let sql = "select max(at) from polls";
            let ms: Option<i64> = conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
            Ok(ms.map(Time::from_millis))
        })
    }

    /// Returns the time of the last poll of any feed.
    pub fn last_poll_at(&self) -> Result<Option<Time>, StoreError> {
        self.read(|conn| {
            let sql = "select max(last_poll_at) from feed_state";
            let ms: Option<i64> = conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
            Ok(ms.map(Time::from_millis))
        })
    }
}
