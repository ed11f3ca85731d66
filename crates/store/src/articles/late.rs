//! Deadlines: queries that wait for a page decide without it when their time is over.

use feed::{EntryId, Time};

use super::deciding;
use crate::db::sql::params;
use crate::{Store, StoreError};

/// The result of passing deadlines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateDecisions {
    pub n_entries: u64,
    pub n_matches: u64,
}

impl Store {
    /// Lets queries decide on entries whose deadline has passed, in the order of the stream. The
    /// request for the page stays.
    pub async fn pass_article_deadlines(
        &self,
        now: Time,
        limit: u32,
    ) -> Result<LateDecisions, StoreError> {
        let late: Vec<EntryId> = self.read(|conn| {
            let sql = "select entry from article_requests where decide_by <= $1 \
                       order by entry limit $2";
            let mut statement = conn.prepare_cached(sql)?;
            let rows =
                statement.query_map(params![now.millis(), limit], |row| row.get(0).map(EntryId))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        if late.is_empty() {
            return Ok(LateDecisions::default());
        }
        let slot = self.matcher();
        let passed = self
            .write_async(move |conn| {
                let mut passed = LateDecisions::default();
                for entry in &late {
                    passed.n_matches += deciding::decide(conn, &slot, *entry, now)?;
                    passed.n_entries += 1;
                    let sql = "delete from article_requests where entry = $1 and next_at is null";
                    conn.prepare_cached(sql)?.execute([entry.0])?;
                }
                Ok(passed)
            })
            .await?;
        self.counters().recorded(&[], passed.n_matches);
        Ok(passed)
    }
}
