//! The sites that entries link to, noted together with their stories.

use feed::EntryId;

use crate::db::sql::{Connection, params};
use crate::error::DbError;

/// A site that an entry links to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedSite {
    /// A host without `www.`.
    pub site: String,
    /// Scheme and host of the link.
    pub origin: String,
}

/// Notes the sites of an entry at the time of its publication, except that of its own feed. Feeds
/// with secrets have no rows.
pub(super) fn note(
    conn: &Connection,
    entry: EntryId,
    at: i64,
    sites: &[LinkedSite],
) -> Result<(), DbError> {
    let sql = "insert into linked_sites (feed, site, origin, linked_at) \
               select feed, $1, $2, $3 from entries where id = $4 \
               and feed not in (select feed from private_feeds) \
               and not exists (select 1 from feed_sites s where s.feed = entries.feed \
                and s.site = $1) \
               on conflict (feed, site) do update \
               set origin = excluded.origin, linked_at = excluded.linked_at \
               where linked_sites.linked_at < excluded.linked_at";
    for one in sites {
        conn.prepare_cached(sql)?.execute(params![one.site, one.origin, at, entry.0])?;
    }
    Ok(())
}
