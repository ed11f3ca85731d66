//! The matches of a query by position: forwards for readers that follow, backwards for the
//! published feed.

use std::collections::HashMap;

use crate::db::sql::{Connection, OptionalExtension, params};
use feed::{EntryId, Time};
use sha2::{Digest, Sha256};

use crate::error::DbError;
use crate::feeds::private_matches::visible_partner;
use crate::reading::entries::{entry_row, page};
use crate::{EntryRow, QueryId, Store, StoreError};

/// A match of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryEntry {
    pub position: i64,
    pub entry: EntryRow,
    /// The entry that a join found for it; `None` too if the readers of the query may not see it.
    pub partner: Option<EntryId>,
}

/// A page of matches, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryPage {
    pub entries: Vec<QueryEntry>,
    /// Some matches between the requested position and `next` were deleted.
    pub gap: bool,
    /// The position to continue from: the last of these matches, or the last position of the query
    /// if there are none.
    pub next: i64,
}

/// Some of the newest matches of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentMatches {
    pub query: QueryId,
    /// Only matches before this position.
    pub before: Option<i64>,
    /// Only entries that were seen since this time.
    pub since: Option<Time>,
    pub limit: u32,
}

impl RecentMatches {
    /// The condition for `query_entries q join entries e`, with the newest first.
    pub(crate) const CONDITION: &str = "where q.query = $1 and q.position < $2 \
        and e.seen_at >= $3 order by q.position desc limit $4";

    /// The values of the condition.
    pub(crate) fn params(&self) -> [i64; 4] {
        let since = self.since.unwrap_or(Time::MIN).millis();
        [i64::from(self.query.0), self.before.unwrap_or(i64::MAX), since, i64::from(self.limit)]
    }
}

const COLUMNS: &str = "e.id, e.feed, e.key, e.guid, e.title, e.link, e.author, e.summary, \
    e.content, e.categories, e.enclosures, e.published_claim, e.published_at, e.updated_at, \
    e.seen_at, e.edited_at, e.source, e.language, e.lang, e.lang_tag, e.lang_source, \
    e.lang_confidence, e.category, e.category_source, e.topic, e.wants_article, e.media, \
    q.position";

fn select() -> String {
    let partner = visible_partner();
    format!("select {COLUMNS}, {partner} from query_entries q join entries e on e.id = q.entry ")
}

impl Store {
    /// Returns the queries that match these entries. Entries without a match are left out.
    pub fn matching_queries(
        &self,
        entries: &[EntryId],
    ) -> Result<HashMap<EntryId, Vec<QueryId>>, StoreError> {
        self.read(|conn| {
            let sql = "select distinct query from query_entries where entry = $1 order by query";
            let mut statement = conn.prepare_cached(sql)?;
            let mut keeping = HashMap::new();
            for entry in entries {
                let rows = statement.query_map([entry.0], |row| row.get(0).map(QueryId))?;
                let found: Vec<QueryId> = rows.collect::<Result<_, _>>()?;
                if !found.is_empty() {
                    keeping.insert(*entry, found);
                }
            }
            Ok(keeping)
        })
    }

    /// Returns the matches of a query after a position.
    pub fn query_entries(
        &self,
        query: QueryId,
        after: i64,
        limit: u32,
    ) -> Result<QueryPage, StoreError> {
        self.read(|conn| {
            let select = select();
            let sql = format!(
                "{select} where q.query = $1 and q.position > $2 order by q.position limit $3"
            );
            let entries = rows(conn, &sql, params![query.0, after, limit.max(1)])?;
            let next = match entries.last() {
                Some(last) => last.position,
                None => last_position(conn, query)?.unwrap_or(0).max(after),
            };
            // Positions have no gaps, except in a restored store (see `backup`). A missing position
            // was deleted.
            let gap = next.abs_diff(after) > entries.len() as u64;
            Ok(QueryPage { entries, gap, next })
        })
    }

    /// Returns the newest matches first.
    pub fn recent_query_entries(
        &self,
        matches: &RecentMatches,
    ) -> Result<Vec<QueryEntry>, StoreError> {
        self.read(|conn| {
            let sql = format!("{} {}", select(), RecentMatches::CONDITION);
            rows(conn, &sql, matches.params())
        })
    }

    /// Returns a digest of everything that a page of the newest matches shows: entries, versions of
    /// their texts, and names of their feeds. It reads no texts, so that a check for changes is
    /// cheap.
    pub fn query_mark(&self, matches: &RecentMatches) -> Result<[u8; 32], StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select q.position, q.entry, e.content_hash, e.edited_at, f.url, \
                 f.given_title, f.title, f.site \
                 from query_entries q join entries e on e.id = q.entry \
                 join feeds f on f.id = e.feed {}",
                RecentMatches::CONDITION
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.query(matches.params())?;
            let mut sha = Sha256::new();
            while let Some(row) = &rows.next()? {
                for column in 0..4 {
                    let number: Option<i64> = row.get(column)?;
                    sha.update(number.unwrap_or(i64::MIN).to_le_bytes());
                }
                for column in 4..8 {
                    let text = row.get_ref(column)?.as_str_or_null()?.unwrap_or("\0");
                    // The length makes ("ab", "c") differ from ("a", "bc").
                    sha.update((text.len() as u64).to_le_bytes());
                    sha.update(text.as_bytes());
                }
            }
            Ok(sha.finalize().into())
        })
    }

    /// Returns the position before the last `n` stored matches; 0 if there are no more than `n`.
    pub fn position_before_last(&self, query: QueryId, n: u32) -> Result<i64, StoreError> {
        self.read(|conn| {
            let sql = "select position from query_entries where query = $1 \
                       order by position desc limit 1 offset $2";
            let mut statement = conn.prepare_cached(sql)?;
            let found = statement.query_row(params![query.0, n], |row| row.get(0)).optional()?;
            Ok(found.unwrap_or(0))
        })
    }

    /// Returns the last position of a query; `None` if there is no such query.
    pub fn last_position(&self, query: QueryId) -> Result<Option<i64>, StoreError> {
        self.read(|conn| last_position(conn, query))
    }
}

fn last_position(conn: &Connection, query: QueryId) -> Result<Option<i64>, DbError> {
    let sql = "select last_position from queries where id = $1";
    Ok(conn.prepare_cached(sql)?.query_row([query.0], |row| row.get(0)).optional()?)
}

fn rows(
    conn: &Connection,
    sql: &str,
    params: impl crate::db::sql::Params,
) -> Result<Vec<QueryEntry>, DbError> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params, |row| {
        let partner: Option<i64> = row.get(28)?;
        Ok(QueryEntry {
            entry: entry_row(row)?,
            position: row.get(27)?,
            partner: partner.map(EntryId),
        })
    })?;
    page(rows, |found| &found.entry)
}
