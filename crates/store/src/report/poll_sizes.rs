//! The bytes that the last polls of each feed took. A budget that counts bytes or a price starts
//! from them after a restart.

use std::collections::HashMap;

use feed::FeedId;

use crate::db::columns::count;
use crate::{Store, StoreError};

/// The polls of each feed whose mean counts.
const LAST_POLLS: u32 = 8;

impl Store {
    /// Returns the mean bytes of the last successful polls of each feed. A feed without such a poll
    /// is left out.
    pub fn poll_sizes(&self) -> Result<HashMap<FeedId, u64>, StoreError> {
        self.read(|conn| {
            // PostgreSQL adds up to a number with digits after the point, and would round it.
            let sql = "select p.feed, cast(sum(p.bytes) as bigint) / count(*) from feed_state s \
                       join polls p on p.feed = s.feed and p.generation >= s.generation - $1 \
                       where p.outcome in ('seen', 'unchanged') group by p.feed";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement
                .query_map([LAST_POLLS], |row| Ok((FeedId(row.get(0)?), count(row, 1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}
