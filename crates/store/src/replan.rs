//! Changes to the schedule that are not polls: new settings, and blame that is taken back.

use feed::{FeedId, Time};
use rusqlite::{OptionalExtension, params};

use crate::{Store, StoreError};

/// A feed's next poll, decided anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replan {
    pub wanted_at: Time,
    pub next_at: Time,
    /// Why, in words and in short.
    pub reason: String,
    pub cause: String,
}

impl Store {
    /// Puts a feed's next poll to another time.
    pub fn replan(&self, feed: FeedId, replan: &Replan) -> Result<(), StoreError> {
        let replan = replan.clone();
        self.write(move |conn| {
            let sql = "update feed_state set wanted_at = $1, next_at = $2, reason = $3, \
                       cause = $4, held = null where feed = $5";
            let changed = conn.prepare_cached(sql)?.execute(params![
                replan.wanted_at.millis(),
                replan.next_at.millis(),
                replan.reason,
                replan.cause,
                feed.0,
            ])?;
            if changed == 0 { Err(StoreError::NoFeed(feed).into()) } else { Ok(()) }
        })
    }

    /// Takes one failure back from feeds that were blamed for what was not their fault, and lets
    /// them be polled at `next_at`. Returns those that had one.
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
                forgiven.extend(found.map(FeedId));
            }
            Ok(forgiven)
        })
        .await
    }

    /// All feeds by number, or those with a tag.
    pub fn feed_ids(&self, tag: Option<&str>) -> Result<Vec<FeedId>, StoreError> {
        self.read(|conn| {
            let sql = "select id from feeds where $1 is null \
                       or id in (select feed from feed_tags where tag = $1) order by id";
            let mut statement = conn.prepare_cached(sql)?;
            let ids = statement.query_map([tag], |row| row.get(0).map(FeedId))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    /// Feeds that are polled by themselves and due at `now`, the longest overdue first.
    pub fn due_feeds(&self, now: Time) -> Result<Vec<FeedId>, StoreError> {
        let index = self.due_index()?;
        let mut due: Vec<_> =
            index.due.iter().filter(|d| d.next_at.is_none_or(|at| at <= now)).collect();
        due.sort_by_key(|d| d.next_at);
        Ok(due.into_iter().map(|d| d.feed).collect())
    }

    /// When the last poll of any feed was made.
    pub fn last_poll_at(&self) -> Result<Option<Time>, StoreError> {
        self.read(|conn| {
            let sql = "select max(last_poll_at) from feed_state";
            let ms: Option<i64> = conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
            Ok(ms.map(Time::from_millis))
        })
    }
}
