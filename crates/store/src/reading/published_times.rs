//! The publication times of a feed, for descriptions of how it posts.

use crate::db::sql::params;
use feed::{FeedId, Time};

use crate::db::columns::time;
use crate::{Store, StoreError};

/// The times that are read of one feed at most: a year of 54 entries a day.
const TIMES_MAX: u32 = 20_000;

impl Store {
    /// Returns the repaired publication times of a feed's stored entries, oldest first; at most
    /// the newest 20,000. An index holds them, so no text is read.
    pub fn published_times(&self, feed: FeedId) -> Result<Vec<Time>, StoreError> {
        self.read(|conn| {
            let sql = "select published_at from entries where feed = $1 \
                       order by published_at desc limit $2";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![feed.0, TIMES_MAX], |row| time(row, 0))?;
            let mut times: Vec<Time> = rows.collect::<Result<_, _>>()?;
            times.reverse();
            Ok(times)
        })
    }
}
