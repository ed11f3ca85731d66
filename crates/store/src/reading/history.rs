//! The times of all entries of a feed, from which the lab replays its history.

use feed::{FeedId, Time};

use crate::db::columns::{time, time_or_none};
use crate::{Store, StoreError};

/// The time when an entry was seen, and its claimed time. It stays after the text is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryTimes {
    /// The publisher's claim. For a deleted entry it is the repaired time, if that differs from
    /// `seen_at`.
    pub claim: Option<Time>,
    pub seen_at: Time,
}

impl Store {
    /// Returns the times of a feed's entries, in the order of recording.
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
