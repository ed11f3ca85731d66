//! All that is known of when a feed's entries came: for the lab, which lives through it again.

use feed::{FeedId, Time};

use crate::db::columns::{time, time_or_none};
use crate::{Store, StoreError};

/// When an entry was seen, and what it claimed. Outlives the entry's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryTimes {
    /// The publisher's claim. Of an entry whose text was dropped, the time to reckon with, where
    /// that is another one than when it was seen.
    pub claim: Option<Time>,
    pub seen_at: Time,
}

impl Store {
    /// The times of a feed's entries, in the order in which they were recorded.
    pub fn entry_times(&self, feed: FeedId) -> Result<Vec<EntryTimes>, StoreError> {
        self.read(|conn| {
            let sql = "select k.published_at, k.seen_at, e.id is not null, e.published_claim \
                       from entry_keys k left join entries e on e.id = k.entry \
                       where k.feed = $1 order by k.entry";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([feed.0], |row| {
                let (published_at, seen_at) = (time(row, 0)?, time(row, 1)?);
                let claim = match row.get::<_, bool>(2)? {
                    true => time_or_none(row, 3)?,
                    false => Some(published_at).filter(|at| *at != seen_at),
                };
                Ok(EntryTimes { claim, seen_at })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}
