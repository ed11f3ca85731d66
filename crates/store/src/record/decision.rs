//! Records a poll whose next poll depends on relevant entries: those that a query matches or a
//! consumer has marked. The decision runs inside the transaction, after the queries have seen the
//! new entries.

use crate::db::sql::Connection;
use feed::{FeedId, Time};

use crate::db::columns::time;
use crate::error::DbError;
use crate::record::apply;
use crate::record::poll_record::delays;
use crate::{Decision, PollRecord, RecordResult, Store, StoreError, matching};

/// An entry of the window, and whether it is relevant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRelevance {
    pub published_at: Time,
    pub seen_at: Time,
    pub relevant: bool,
}

impl Store {
    /// Records a poll and decides the next one in the same transaction. `decide` gets the entries
    /// of the window after the queries have seen the new ones; `None` means that no query reads the
    /// feed. It runs on the writer thread, so it must be quick. A panic in it undoes only this
    /// poll. Returns also the second value of `decide`.
    pub async fn record_deciding<T: Send + 'static>(
        &self,
        record: PollRecord,
        decide: impl FnOnce(Option<Vec<WindowRelevance>>) -> (Decision, T) + Send + 'static,
    ) -> Result<(RecordResult, T), StoreError> {
        let (slot, delays) = (self.matcher(), delays(&record));
        let kept = self.write_async(move |conn| {
            apply::record_poll(conn, record, &slot, |conn, record| {
                let shown = window_relevance(conn, record.feed)?;
                let (decision, more) = matching::guarded(|| Ok(decide(shown)))?;
                record.decision = decision;
                Ok(more)
            })
        });
        let (recorded, more) = kept.await?;
        self.counters().recorded(&delays, recorded.n_matches);
        Ok((recorded, more))
    }
}

/// Returns the entries of the window, oldest first; `None` if no query reads the feed.
fn window_relevance(
    conn: &Connection,
    feed: FeedId,
) -> Result<Option<Vec<WindowRelevance>>, DbError> {
    let sql = "select 1 from feed_relevance where feed = $1";
    if !conn.prepare_cached(sql)?.exists([feed.0])? {
        return Ok(None);
    }
    let sql = "select k.published_at, k.seen_at, coalesce( \
               (select r.relevant from relevance r where r.entry = k.entry), \
               case when exists (select 1 from query_entries q where q.entry = k.entry) \
               then 1 else 0 end) \
               from entry_keys k where k.feed = $1 and k.left_window_at is null \
               order by k.published_at, k.entry";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([feed.0], |row| {
        let (published_at, seen_at) = (time(row, 0)?, time(row, 1)?);
        Ok(WindowRelevance { published_at, seen_at, relevant: row.get(2)? })
    })?;
    Ok(Some(rows.collect::<Result<_, _>>()?))
}
