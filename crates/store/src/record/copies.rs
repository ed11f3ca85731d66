//! Detects copies: a document says that it took an item from another feed, and this instance may
//! have that entry already.
//!
//! Such a claim can be false, so its only effect is that the item is not new. It needs proof from
//! this store. Either the original feed is one of ours and has shown the entry. Or the store has
//! another copy, and the item passed through this instance or has the same content. A claim never
//! hides an entry of another feed. With accounts, the other feed must be read by everybody who
//! reads this one: nobody misses an entry because somebody else has it.

use std::collections::HashSet;

use crate::db::sql::{Connection, OptionalExtension, params};
use feed::{EntryId, EntryKey, FeedId, FeedUrl, Item, Source};

use crate::error::DbError;
use crate::{Store, StoreError};

/// The claim of an item that another feed published it first.
pub(crate) struct SourceClaim {
    /// The feed that makes the claim.
    feed: FeedId,
    pub(crate) source: Source,
    /// The id under which it is published; `None` if nothing identifies it.
    id: Option<String>,
    link: Option<String>,
    /// Our feeds that have the name of its source.
    ours: Vec<FeedId>,
}

impl SourceClaim {
    /// Reads the claim of an item; `None` if the item is the feed's own.
    pub(crate) fn of(
        conn: &Connection,
        feed: FeedId,
        item: &Item,
    ) -> Result<Option<SourceClaim>, DbError> {
        let Some(source) = item.source.as_ref().and_then(feed::passed_on) else { return Ok(None) };
        let ours = named(conn, &source)?;
        if ours.contains(&feed) {
            return Ok(None);
        }
        let sql = "select url from feeds where id = $1";
        let url: Option<String> =
            conn.prepare_cached(sql)?.query_row([feed.0], |row| row.get(0)).optional()?;
        let url = url.and_then(|url| FeedUrl::from_stored(&url).ok());
        let host = url.as_ref().and_then(|url| url.url().host_str()).unwrap_or_default();
        let (guid, link) = (item.id.as_deref(), item.link.as_deref());
        let id = guid.or(link).map(|_| feed::public_id(guid, link, EntryId(0), host));
        Ok(Some(SourceClaim { feed, source, id, link: item.link.clone(), ours }))
    }

    /// Returns the identity of the original entry, which is the same in every feed.
    pub(crate) fn origin(&self) -> Option<[u8; 16]> {
        feed::origin(&self.source, self.id.as_deref()?)
    }

    /// Returns whether this instance has the entry already.
    pub(crate) fn is_known(&self, conn: &Connection, content: u64) -> Result<bool, DbError> {
        Ok(self.is_ours(conn)? || self.is_copy(conn, content)?)
    }

    /// Returns whether one of our feeds has shown it.
    fn is_ours(&self, conn: &Connection) -> Result<bool, DbError> {
        let Some(id) = &self.id else { return Ok(false) };
        let (keys, number) = feed::original_keys(id, self.link.as_deref());
        let by_key = "select 1 from entry_keys where feed = $1 and key = $2";
        let mut by_key = conn.prepare_cached(by_key)?;
        let by_number = "select 1 from entries where id = $1 and feed = $2 \
                         and guid is null and link is null";
        let mut by_number = conn.prepare_cached(by_number)?;
        for feed in &self.ours {
            if !is_read_by_all(conn, *feed, self.feed)? {
                continue;
            }
            for key in &keys {
                if by_key.exists(params![feed.0, key.bytes()])? {
                    return Ok(true);
                }
            }
            if let Some(number) = number
                && by_number.exists(params![number.0, feed.0])?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether the store has a copy that this one came from, or one with the same content.
    fn is_copy(&self, conn: &Connection, content: u64) -> Result<bool, DbError> {
        let Some(origin) = self.origin() else { return Ok(false) };
        let sql = "select content_hash, feed from entry_keys where origin = $1";
        let mut statement = conn.prepare_cached(sql)?;
        let rows = statement
            .query_map([origin], |row| Ok((row.get::<_, i64>(0)?, FeedId(row.get(1)?))))?;
        let all: Vec<(i64, FeedId)> = rows.collect::<Result<_, _>>()?;
        let mut copies = Vec::new();
        for (content, feed) in all {
            if is_read_by_all(conn, feed, self.feed)? {
                copies.push(content);
            }
        }
        if copies.is_empty() {
            return Ok(false);
        }
        let passed_us = self.source.via.contains(&instance(conn)?);
        Ok(passed_us || copies.contains(&content.cast_signed()))
    }
}

/// Returns whether everybody who subscribes to `feed` also subscribes to `other`.
fn is_read_by_all(conn: &Connection, other: FeedId, feed: FeedId) -> Result<bool, DbError> {
    let sql = "select 1 from subscriptions s where s.feed = $1 and not exists \
               (select 1 from subscriptions o where o.account = s.account and o.feed = $2) limit 1";
    Ok(other == feed || !conn.prepare_cached(sql)?.exists(params![feed.0, other.0])?)
}

/// Returns our feeds that have the name of a source. They match by their address, with http and
/// https as equal. A feed whose address contains a secret matches by its public name.
fn named(conn: &Connection, source: &Source) -> Result<Vec<FeedId>, DbError> {
    let Some(name) = source.name() else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    if let Ok(url) = FeedUrl::parse(name) {
        let sql = "select id from feeds where url in ($1, $2) \
                   union select id from feeds where effective_url in ($1, $2)";
        let mut statement = conn.prepare_cached(sql)?;
        let rows = statement
            .query_map([url.as_str(), url.twin().as_str()], |row| row.get(0).map(FeedId))?;
        found = rows.collect::<Result<_, _>>()?;
    }
    // The index has the same condition.
    let sql = "select id, url, site from feeds \
               where site in ($1, $2) and (url like '%@%' or url like '%?%') \
               union select id, url, site from feeds where id = $3";
    let mut statement = conn.prepare_cached(sql)?;
    let number = source.numbered().map(|feed| feed.0);
    let rows = statement.query_map(params![name, name.trim_end_matches('/'), number], |row| {
        Ok((FeedId(row.get(0)?), row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
    })?;
    for row in rows {
        let (id, url, site) = row?;
        let Ok(url) = FeedUrl::from_stored(&url) else { continue };
        let public = feed::public_source(&url, site.as_deref(), id);
        if public.url.is_none() && public.name() == Some(name) {
            found.push(id);
        }
    }
    Ok(found)
}

/// Returns the name under which this instance publishes feeds.
fn instance(conn: &Connection) -> Result<String, DbError> {
    let sql = "select value from settings where key = 'instance'";
    let name: Option<String> =
        conn.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    Ok(format!("urn:uuid:{}", name.unwrap_or_default()))
}

impl Store {
    /// Returns the name under which this instance publishes feeds. By it the instance recognises
    /// its own entries when they come back.
    pub fn instance(&self) -> Result<String, StoreError> {
        self.read(instance)
    }

    /// Returns which items of a feed are copies of entries that this instance has already. Each
    /// item comes with its key and content hash.
    pub fn known_copies(
        &self,
        feed: FeedId,
        items: &[(EntryKey, u64, &Item)],
    ) -> Result<HashSet<EntryKey>, StoreError> {
        if items.is_empty() {
            return Ok(HashSet::new());
        }
        self.read(|conn| {
            let mut known = HashSet::new();
            for (key, content, item) in items {
                if let Some(claim) = SourceClaim::of(conn, feed, item)?
                    && claim.is_known(conn, *content)?
                {
                    known.insert(*key);
                }
            }
            Ok(known)
        })
    }
}
