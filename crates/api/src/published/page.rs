//! One page of a published feed: its query, its access rights, its digest and its entries. It does
//! not render or send the page.

use std::collections::HashMap;

use feed::{EntryId, Item, Time};
use query::{LookBack, Query, Statement};
use sha2::{Digest, Sha256};
use store::{AccountId, ArticleRow, QueryEntry, QueryRow, RecentMatches, Store, StoreError};

use super::{PublishedRequest, entry};
use crate::feed_cache::ContentDigest;
use crate::feed_rows::FeedRows;

/// Entries on one page of a feed.
const PAGE: u32 = 50;
/// The most entries of a query window on one page. Readers accept documents of a few megabytes.
const WINDOW_MAX: u32 = 500;
/// The bytes of entries after which a page ends early: half the limit of our own polls and pushes.
const BYTES_MAX: usize = 2_000_000;
/// Entries that are read from the store at once; each may be megabytes long.
const READ_AT_ONCE: u32 = 10;

/// A page that the client may see.
pub struct PublishedPage {
    row: QueryRow,
    /// Everybody who knows the address may see it, not only accounts of this instance.
    pub is_open: bool,
    pub title: String,
    before: Option<i64>,
    since: Option<Time>,
    /// Only positions after this one belong to the query's window.
    lowest: i64,
    limit: u32,
    with_articles: bool,
}

impl PublishedPage {
    /// Returns the page, if the query exists and the client may see it.
    pub fn find(
        store: &Store,
        request: &PublishedRequest,
        open: bool,
        now: Time,
    ) -> Result<Option<PublishedPage>, StoreError> {
        let Some(row) = store.query(&request.name)? else { return Ok(None) };
        let Some(query) = read(&row.text) else { return Ok(None) };
        let is_open = request.is_open(&row, query.access);
        if !is_open && !open {
            return Ok(None);
        }
        let (limit, since, lowest) = match query.window {
            None => (PAGE, None, 0),
            Some(LookBack::Time(time)) => (WINDOW_MAX, Some(now - time), 0),
            Some(LookBack::Items(n)) => {
                (WINDOW_MAX.min(n), None, store.position_before_last(row.id, n)?)
            }
        };
        let title = query.title.unwrap_or_else(|| row.name.clone());
        Ok(Some(PublishedPage {
            row,
            is_open,
            title,
            before: request.before,
            since,
            lowest,
            limit,
            with_articles: query.with_articles,
        }))
    }

    /// Returns the digest of everything but the address that the document depends on.
    pub fn mark(&self, store: &Store) -> Result<ContentDigest, StoreError> {
        let shown = self.matches(self.before, self.limit.saturating_add(1));
        let mut sha = Sha256::new();
        sha.update(store.query_mark(&shown)?);
        for number in [i64::from(self.row.id.0), self.row.changed_at.millis(), self.lowest] {
            sha.update(number.to_le_bytes());
        }
        sha.update(&self.row.text);
        if self.with_articles {
            sha.update(store.articles_mark(&shown)?);
        }
        Ok(sha.finalize().into())
    }

    fn matches(&self, before: Option<i64>, limit: u32) -> RecentMatches {
        RecentMatches { query: self.row.id, before, since: self.since, limit }
    }

    /// Returns the entries, newest first, and the position before which there are more. The page
    /// ends early if the document would become too long.
    pub fn entries(&self, store: &Store) -> Result<PageEntries, StoreError> {
        let instance = store.instance()?;
        let mut feeds = FeedRows::new(AccountId::LOCAL);
        let (mut items, mut bytes) = (Vec::new(), 0);
        let mut found = PageEntries { changed_at: self.row.changed_at, ..PageEntries::default() };
        let (mut before, mut taken) = (self.before, 0);
        'page: loop {
            let some = store.recent_query_entries(&self.matches(before, READ_AT_ONCE))?;
            feeds.load(store, some.iter().map(|one| one.entry.feed))?;
            let articles = self.articles(store, &some)?;
            for one in &some {
                if one.position <= self.lowest {
                    break 'page;
                }
                let item = feeds.get(one.entry.feed).map(|feed| {
                    let article = articles.get(&one.entry.id);
                    let item = entry::item(&one.entry, feed, &instance);
                    let item = entry::fitted(entry::with_article(item, article));
                    (entry::rank(&one.entry, feed), item)
                });
                let size = item.as_ref().map_or(0, |(_, item)| entry::n_bytes(item));
                if taken == self.limit || (taken > 0 && bytes + size > BYTES_MAX) {
                    found.older = before;
                    break 'page;
                }
                (before, taken, bytes) = (Some(one.position), taken + 1, bytes + size);
                if let Some(item) = item {
                    let changed_at = one.entry.edited_at.unwrap_or(one.entry.seen_at);
                    found.changed_at = found.changed_at.max(changed_at);
                    items.push(item);
                }
            }
            if !store::is_full(some.iter().map(|one| &one.entry), READ_AT_ONCE) {
                break;
            }
        }
        found.items = entry::each_once(items);
        Ok(found)
    }

    /// Returns the articles of matches, if the query publishes them.
    fn articles(
        &self,
        store: &Store,
        matches: &[QueryEntry],
    ) -> Result<HashMap<EntryId, ArticleRow>, StoreError> {
        if !self.with_articles {
            return Ok(HashMap::new());
        }
        let ids: Vec<EntryId> = matches.iter().map(|one| one.entry.id).collect();
        store.articles(&ids)
    }
}

/// The entries of a page.
#[derive(Default)]
pub struct PageEntries {
    pub items: Vec<Item>,
    /// The position before which there are more.
    pub older: Option<i64>,
    pub changed_at: Time,
}

/// Reads the query of a stored statement.
pub fn read(text: &str) -> Option<Query> {
    match query::parse(text).ok()?.pop()? {
        Statement::Create(create) => Some(create.query),
        Statement::Drop(_) => None,
    }
}
