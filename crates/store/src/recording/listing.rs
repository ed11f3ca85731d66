//! Lists the recorded documents of a feed, newest first, without their bodies.

use feed::{FeedId, Outcome, Time};

use crate::db::columns::{count, outcome, time_or_none};
use crate::db::sql::params;
use crate::{Store, StoreError};

/// A recorded document, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentVersionRow {
    pub version: i64,
    /// The poll that brought it; `None`: its row is gone.
    pub at: Option<Time>,
    pub outcome: Option<Outcome>,
    pub status: Option<u16>,
    /// Its size, decompressed.
    pub bytes: u64,
    /// The reason why it could not be read.
    pub error: Option<String>,
}

impl DocumentVersionRow {
    /// Returns whether the document could not be read as a feed.
    pub fn is_broken(&self) -> bool {
        self.outcome.is_some_and(|outcome| !outcome.is_success())
    }
}

impl Store {
    /// Returns the newest recorded documents of a feed. With `broken`, only those that could not be
    /// read.
    pub fn document_list(
        &self,
        feed: FeedId,
        broken: bool,
        limit: u32,
    ) -> Result<Vec<DocumentVersionRow>, StoreError> {
        let only = if broken { "and p.outcome not in ('seen', 'unchanged') " } else { "" };
        self.read(|conn| {
            let sql = format!(
                "select d.version, p.at, p.outcome, p.status, d.bytes, p.error \
                 from document_versions d left join polls p \
                 on p.feed = d.feed and p.generation = d.generation \
                 where d.feed = $1 {only}order by d.version desc limit $2"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map(params![feed.0, limit], |row| {
                Ok(DocumentVersionRow {
                    version: row.get(0)?,
                    at: time_or_none(row, 1)?,
                    outcome: outcome(row, 2)?,
                    status: row.get(3)?,
                    bytes: count(row, 4)?,
                    error: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}
