//! A digest of the articles that a published feed shows.

use sha2::{Digest, Sha256};

use crate::{RecentMatches, Store, StoreError};

impl Store {
    /// Returns a digest of the articles behind the newest matches of a query. Pages that forbid
    /// copies do not count. It reads no texts.
    pub fn articles_mark(&self, matches: &RecentMatches) -> Result<[u8; 32], StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select m.entry, a.fetched_at from \
                 (select q.position, q.entry from query_entries q \
                 join entries e on e.id = q.entry {}) as m \
                 join articles a on a.entry = m.entry \
                 where a.why_not is null and a.noarchive = 0 order by m.position",
                RecentMatches::CONDITION
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.query(matches.params())?;
            let mut sha = Sha256::new();
            while let Some(row) = &rows.next()? {
                for column in 0..2 {
                    sha.update(row.get::<_, i64>(column)?.to_le_bytes());
                }
            }
            Ok(sha.finalize().into())
        })
    }
}
