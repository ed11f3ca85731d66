//! Icons of sites: stored once by the digest of their bytes, found by origin, and shown for the
//! feeds of a site. The engine decides which address an icon comes from.

use std::collections::HashMap;

use feed::{FeedId, Time};

use crate::db::columns::millis;
use crate::db::sql::{Connection, OptionalExtension, Value, params};
use crate::error::DbError;
use crate::{Store, StoreError};

/// An icon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IconRow {
    /// The first half of SHA-256 of its bytes, in hexadecimal.
    pub hash: String,
    pub mime_type: String,
    pub width: u32,
    pub height: u32,
    pub bytes: Vec<u8>,
}

/// The result of looking for the icon of an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IconRecord {
    /// Scheme, host and port, such as `https://example.org`.
    pub origin: String,
    pub found: IconLook,
    pub at: Time,
    /// When the site is asked again.
    pub next_at: Time,
}

/// The result of one look for an icon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IconLook {
    Found {
        icon: IconRow,
        url: String,
        etag: Option<Vec<u8>>,
    },
    /// The server says that the stored icon is still the same.
    Unchanged,
    /// A stored icon stays.
    Nothing {
        error: String,
    },
}

/// An origin whose icon is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IconDue {
    pub origin: String,
    /// A feed of this origin that declares an icon, or any of them.
    pub feed: FeedId,
    /// The icon that the feed's documents declare. `None` also if feeds of this origin declare
    /// different ones: then they are pictures of people or shows and not of the site.
    pub declared: Option<String>,
    /// The page that the feed belongs to.
    pub site: Option<String>,
    /// The address of the stored icon, and its validator.
    pub known: Option<(String, Option<Vec<u8>>)>,
}

/// A feed whose origin is not noted, or noted under another site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IconlessFeed {
    pub feed: FeedId,
    pub url: String,
    pub site: Option<String>,
}

impl Store {
    /// Returns an icon by its digest.
    pub fn icon(&self, hash: &str) -> Result<Option<IconRow>, StoreError> {
        self.read(|conn| {
            let sql = "select hash, mime_type, width, height, bytes from icons where hash = $1";
            let found = conn.prepare_cached(sql)?.query_row([hash], |row| {
                Ok(IconRow {
                    hash: row.get(0)?,
                    mime_type: row.get(1)?,
                    width: row.get(2)?,
                    height: row.get(3)?,
                    bytes: row.get(4)?,
                })
            });
            Ok(found.optional()?)
        })
    }

    /// Returns the digests of the icons of feeds. Feeds without one are left out.
    pub fn feed_icons(&self, feeds: &[FeedId]) -> Result<HashMap<FeedId, String>, StoreError> {
        self.read(|conn| {
            let sql = "select o.hash from feed_icons f join icon_origins o \
                       on o.origin = f.origin where f.feed = $1 and o.hash is not null";
            let keys: Vec<Value<'_>> =
                feeds.iter().map(|feed| Value::Int(i64::from(feed.0))).collect();
            let found = conn
                .prepare_cached(sql)?
                .each(&keys, &[], |place, row| Ok((feeds[place], row.get(0)?)))?;
            Ok(found.into_iter().collect())
        })
    }

    /// Returns the digest of the icon of a feed.
    pub fn feed_icon(&self, feed: FeedId) -> Result<Option<String>, StoreError> {
        Ok(self.feed_icons(&[feed])?.remove(&feed))
    }

    /// Returns feeds after a number whose origin is not noted yet. Only the first poll of a feed
    /// tells its site and the icon that it declares.
    pub fn iconless_feeds(
        &self,
        after: FeedId,
        limit: u32,
    ) -> Result<Vec<IconlessFeed>, StoreError> {
        self.read(|conn| {
            let sql = "select f.id, coalesce(f.effective_url, f.url), f.site from feeds f \
                       where f.id > $1 and not exists \
                       (select 1 from feed_icons i where i.feed = f.id) and exists \
                       (select 1 from feed_state s where s.feed = f.id \
                       and s.last_poll_at is not null) order by f.id limit $2";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![after.0, limit], |row| {
                let (url, site) = (row.get(1)?, row.get(2)?);
                Ok(IconlessFeed { feed: FeedId(row.get(0)?), url, site })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Notes the origins of feeds. A new origin is due at once. So is an origin whose feeds declare
    /// a second icon: from then on each would show the picture of the other.
    pub async fn note_icon_origins(
        &self,
        origins: Vec<(FeedId, String)>,
        now: Time,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let new = "insert into icon_origins (origin, next_at) values ($1, $2) \
                       on conflict (origin) do nothing";
            // SQLite numbers parameters by their first use.
            let of_feed = "insert into feed_icons (origin, feed) \
                           select $1, id from feeds where id = $2 \
                           on conflict (feed) do update set origin = excluded.origin";
            let second = "update icon_origins set hash = null, url = null, etag = null, \
                          next_at = $1 where origin = $2 and hash is not null and \
                          (select count(distinct g.icon) from feed_icons j \
                          join feeds g on g.id = j.feed where j.origin = icon_origins.origin) = 2 \
                          and (select count(*) from feed_icons j join feeds g on g.id = j.feed \
                          join feeds f on f.icon = g.icon \
                          where j.origin = icon_origins.origin and f.id = $3) = 1";
            let mut n_forgotten = 0;
            for (feed, origin) in &origins {
                conn.prepare_cached(new)?.execute(params![origin, now.millis()])?;
                conn.prepare_cached(of_feed)?.execute(params![origin, feed.0])?;
                let values = params![now.millis(), origin, feed.0];
                n_forgotten += conn.prepare_cached(second)?.execute(values)?;
            }
            if n_forgotten > 0 { delete_unused(conn) } else { Ok(()) }
        })
        .await
    }

    /// Returns the origins of feeds whose icon is due, the longest waiting first.
    pub fn icons_due(&self, now: Time, limit: u32) -> Result<Vec<IconDue>, StoreError> {
        self.read(|conn| {
            let sql = "select origin, case when hash is null then null else url end, etag \
                       from icon_origins o where next_at <= $1 and exists \
                       (select 1 from feed_icons f where f.origin = o.origin) \
                       order by next_at, origin limit $2";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![now.millis(), limit], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
            let origins: Vec<(String, Option<String>, Option<Vec<u8>>)> =
                rows.collect::<Result<_, _>>()?;
            // If feeds of an origin declare several icons, none of them is that of the origin.
            let sql = "select f.id, case when (select count(distinct g.icon) from feed_icons j \
                       join feeds g on g.id = j.feed where j.origin = i.origin) = 1 \
                       then f.icon end, f.site, \
                       (select count(distinct g.icon) from feed_icons j \
                       join feeds g on g.id = j.feed where j.origin = i.origin) > 1 \
                       and exists (select 1 from feed_icons j join feeds g on g.id = j.feed \
                       join icon_origins o on o.origin = j.origin \
                       where j.origin = i.origin and g.icon = o.url) \
                       from feed_icons i join feeds f on f.id = i.feed \
                       where i.origin = $1 order by f.icon is null, f.id limit 1";
            let mut statement = conn.prepare_cached(sql)?;
            let mut due = Vec::new();
            for (origin, url, etag) in origins {
                let feed = statement.query_row([&origin], |row| {
                    Ok((FeedId(row.get(0)?), row.get(1)?, row.get(2)?, row.get::<_, i64>(3)?))
                });
                let Some((feed, declared, site, is_of_one)) = feed.optional()? else { continue };
                let known = url.filter(|_| is_of_one == 0).map(|url| (url, etag));
                due.push(IconDue { origin, feed, declared, site, known });
            }
            Ok(due)
        })
    }

    /// Stores the result of a look for an icon. Icons that no origin has any more are deleted.
    pub async fn record_icon(&self, record: IconRecord) -> Result<(), StoreError> {
        self.write_async(move |conn| record_icon(conn, &record)).await
    }

    /// Deletes the origins that no feed has any more. Returns how many.
    pub fn forget_icon_origins(&self) -> Result<u64, StoreError> {
        self.write(|conn| {
            let sql = "delete from icon_origins where origin not in \
                       (select origin from feed_icons)";
            let n = conn.execute(sql, [])? as u64;
            delete_unused(conn)?;
            Ok(n)
        })
    }
}

fn record_icon(conn: &Connection, record: &IconRecord) -> Result<(), DbError> {
    let (at, next_at) = (record.at.millis(), record.next_at.millis());
    match &record.found {
        IconLook::Found { icon, url, etag } => {
            let sql = "insert into icons (hash, mime_type, width, height, bytes) \
                       values ($1, $2, $3, $4, $5) on conflict (hash) do nothing";
            let IconRow { hash, mime_type, width, height, bytes } = icon;
            conn.prepare_cached(sql)?.execute(params![hash, mime_type, width, height, bytes])?;
            let sql = "update icon_origins set hash = $1, url = $2, etag = $3, fetched_at = $4, \
                       next_at = $5, error = null where origin = $6";
            conn.prepare_cached(sql)?.execute(params![
                hash,
                url,
                etag,
                at,
                next_at,
                record.origin
            ])?;
            delete_unused(conn)?;
        }
        IconLook::Unchanged => {
            let sql = "update icon_origins set fetched_at = $1, next_at = $2, error = null \
                       where origin = $3";
            conn.prepare_cached(sql)?.execute(params![at, next_at, record.origin])?;
        }
        IconLook::Nothing { error } => {
            let sql = "update icon_origins set fetched_at = $1, next_at = $2, error = $3 \
                       where origin = $4";
            let at = millis(Some(record.at));
            conn.prepare_cached(sql)?.execute(params![at, next_at, error, record.origin])?;
        }
    }
    Ok(())
}

fn delete_unused(conn: &Connection) -> Result<(), DbError> {
    let sql = "delete from icons where not exists \
               (select 1 from icon_origins o where o.hash = icons.hash)";
    conn.prepare_cached(sql)?.execute([])?;
    Ok(())
}
