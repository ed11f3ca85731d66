//! Removes the matches of private feeds that a query must not keep: those in queries of others, and
//! those in shared queries that do not name the feed. The matcher makes no such matches, so they
//! are from before the feed was private or before the query was shared. Partners of a join are
//! hidden by the same rule.

use std::collections::HashSet;

use feed::FeedId;

use crate::db::sql::Connection;
use crate::error::DbError;
use crate::matching::{EntryMatcher, change_states};
use crate::{QueryId, Store, StoreError};

/// SQL: queries `q` and private feeds `p` whose entries they must not keep.
const FORBIDDEN: &str = "(coalesce(q.owner, 0) <> p.owner or q.shared = 1 and not exists \
    (select 1 from query_feeds f where f.query = q.id and f.feed = p.feed))";

/// SQL: the partner of a match `q`, unless it is an entry of a private feed that the query must not
/// keep. Such a partner was found before the feed was private or before the query was shared.
pub(crate) fn visible_partner() -> String {
    let forbidden = FORBIDDEN.replace("q.", "w.");
    format!(
        "case when q.partner is null or exists (select 1 from entries o \
         join private_feeds p on p.feed = o.feed join queries w on w.id = q.query \
         where o.id = q.partner and {forbidden}) then null else q.partner end"
    )
}

impl Store {
    /// Removes all such matches. Returns how many there were.
    pub fn drop_forbidden_matches(&self) -> Result<usize, StoreError> {
        let found = self.read(|conn| {
            let sql = format!(
                "select distinct p.feed from private_feeds p join entries e on e.feed = p.feed \
                 join query_entries m on m.entry = e.id join queries q on q.id = m.query \
                 where {FORBIDDEN} order by p.feed"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([], |row| row.get(0).map(FeedId))?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        })?;
        let mut n_removed = 0;
        for feed in found {
            n_removed += self.write(move |conn| drop_of_feed(conn, feed))?;
        }
        Ok(n_removed)
    }
}

/// Removes the matches of a feed that is private now or has another owner.
pub(crate) fn drop_of_feed(conn: &Connection, feed: FeedId) -> Result<usize, DbError> {
    let sql = format!(
        "delete from query_entries where entry in (select id from entries where feed = $1) \
         and query in (select q.id from queries q join private_feeds p on p.feed = $1 \
         where {FORBIDDEN})"
    );
    Ok(conn.prepare_cached(&sql)?.execute([feed.0])?)
}

/// Removes the matches of private feeds from a query before others see it. Matches of feeds that
/// the query names stay: their owner has published them.
pub(crate) fn leave_out(conn: &Connection, query: QueryId) -> Result<(), DbError> {
    let sql = "delete from query_entries where query = $1 and entry in \
               (select e.id from entries e join private_feeds p on p.feed = e.feed) \
               and entry not in (select e.id from entries e join query_feeds f \
                on f.feed = e.feed where f.query = $1)";
    conn.prepare_cached(sql)?.execute([query.0])?;
    Ok(())
}

/// The same, and removes the entries of these feeds from the memory of the query. Otherwise a later
/// entry could be joined with one of them.
pub(crate) fn forget(
    conn: &Connection,
    matcher: &mut dyn EntryMatcher,
    query: QueryId,
) -> Result<(), DbError> {
    leave_out(conn, query)?;
    let sql = "select feed from private_feeds where feed not in \
               (select feed from query_feeds where query = $1)";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([query.0], |row| row.get(0).map(FeedId))?;
    let feeds: HashSet<FeedId> = rows.collect::<Result<_, _>>()?;
    matcher.leave_out(query, &feeds);
    change_states(conn, &matcher.take_changes())
}
