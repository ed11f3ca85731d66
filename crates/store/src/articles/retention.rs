//! Deletes the articles of old fetches. The entries stay with the text of their feed.

use std::time::Duration;

use feed::{EntryId, Time};

use crate::db::sql::params;
use crate::{Store, StoreError, search};

/// Articles that one step deletes at most: a few milliseconds of the writer.
const STEP_ROWS: i64 = 50;

impl Store {
    /// Deletes the articles that were fetched longer than `age_max` ago. Articles of starred
    /// entries stay. Each step is its own transaction. Returns how many were deleted.
    pub fn retain_articles(&self, age_max: Duration, now: Time) -> Result<u64, StoreError> {
        let before = (now - age_max).millis();
        let mut deleted = 0;
        loop {
            let n = self.write(move |conn| {
                let sql = "delete from articles where entry in (select a.entry from articles a \
                           where a.fetched_at < $1 and not exists \
                           (select 1 from stars s where s.entry = a.entry) \
                           order by a.fetched_at limit $2) returning entry";
                let mut statement = conn.prepare_cached(sql)?;
                let rows = statement
                    .query_map(params![before, STEP_ROWS], |row| row.get(0).map(EntryId))?;
                let gone: Vec<EntryId> = rows.collect::<Result<_, _>>()?;
                for entry in &gone {
                    search::note_change(conn, *entry)?;
                }
                Ok(gone.len() as i64)
            })?;
            deleted += n.unsigned_abs();
            if n < STEP_ROWS {
                return Ok(deleted);
            }
        }
    }
}
