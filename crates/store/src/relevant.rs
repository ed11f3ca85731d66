//! Which entries of a feed's window somebody wants: a query kept them, or a consumer said so. And
//! what is learned from those alone, once it is known which they are.

use feed::{FeedId, Time};
use rusqlite::params;

use crate::columns::time;
use crate::{Replan, Store, StoreError};

/// An entry of the window, and whether somebody wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRelevance {
    pub published_at: Time,
    pub seen_at: Time,
    pub relevant: bool,
}

impl Store {
    /// The entries that the window shows, oldest first.
    pub fn window_relevance(&self, feed: FeedId) -> Result<Vec<WindowRelevance>, StoreError> {
        self.read(|conn| {
            let sql = "select k.published_at, k.seen_at, coalesce( \
                       (select r.relevant from relevance r where r.entry = k.entry), \
                       exists (select 1 from query_entries q where q.entry = k.entry)) \
                       from entry_keys k where k.feed = $1 and k.left_window_at is null \
                       order by k.published_at, k.entry";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([feed.0], |row| {
                let (published_at, seen_at) = (time(row, 0)?, time(row, 1)?);
                Ok(WindowRelevance { published_at, seen_at, relevant: row.get(2)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// What was learned of a recorded poll once its matches were known, and what follows from it.
    /// After another poll it is refused in silence: that one decided anew.
    pub async fn relearn(
        &self,
        feed: FeedId,
        generation: u32,
        replan: Replan,
        learned: Vec<u8>,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update feed_state set wanted_at = $1, next_at = $2, reason = $3, \
                       cause = $4, held = $5 where feed = $6 and generation = $7";
            let changed = conn.prepare_cached(sql)?.execute(params![
                replan.wanted_at.millis(),
                replan.next_at.millis(),
                replan.reason,
                replan.cause,
                replan.held,
                feed.0,
                generation,
            ])?;
            if changed > 0 {
                let sql = "update feed_window set learned = $1 where feed = $2";
                conn.prepare_cached(sql)?.execute(params![learned, feed.0])?;
            }
            Ok(())
        })
        .await
    }
}
