//! Entries of the stream as JSON, under the same field names as `tidings entries`. Secrets in the
//! addresses of feeds are masked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use feed::FeedId;
use store::{EntryRow, Store, StoreError, StreamCursor};

use crate::v1::reading::view::EntrySource;
use crate::v1::schema::{Omittable, answer};

answer! {
    /// An entry of the stream; its texts are not sanitised.
    StreamEntry {
        /// The cursor behind this entry.
        cursor: String,
        /// Its number.
        id: i64,
        /// The address of its feed, secrets masked.
        feed: String,
        /// Its title.
        title: Option<String>,
        /// Its link.
        link: Option<String>,
        /// Its author.
        author: Option<String>,
        /// Its summary, which may hold HTML.
        summary: Option<String>,
        /// Its content, which may hold HTML.
        content: Option<String>,
        /// Its categories.
        categories: Vec<String>,
        /// The language that it declares itself; null means that of its feed.
        language: Option<String>,
        /// When it was published, with implausible dates corrected.
        published_at: String,
        /// When it was seen first.
        seen_at: String,
        /// The feed that it first appeared in, if it came through another feed.
        source: Option<EntrySource>,
        /// The entry that a query joined it with; only in the stream of a query.
        joined_with: Omittable<Option<i64>>,
    }
}

impl StreamEntry {
    /// Returns an entry with its content.
    pub fn new(
        store: &Store,
        feeds: &mut FeedAddresses,
        cursor: StreamCursor,
        entry: &EntryRow,
    ) -> Result<StreamEntry, StoreError> {
        Ok(StreamEntry {
            cursor: cursor.to_string(),
            id: entry.id.0,
            feed: feeds.of(store, entry.feed)?.to_owned(),
            title: entry.title.clone(),
            link: entry.link.clone(),
            author: entry.author.clone(),
            summary: entry.summary.clone(),
            content: entry.content.clone(),
            categories: entry.categories.clone(),
            language: entry.language.clone(),
            published_at: entry.published_at.to_string(),
            seen_at: entry.seen_at.to_string(),
            source: entry.source.as_ref().map(EntrySource::new),
            joined_with: Omittable::Omitted,
        })
    }
}

/// The masked addresses of the feeds met so far, read from the store once each.
#[derive(Default)]
pub struct FeedAddresses(HashMap<FeedId, String>);

impl FeedAddresses {
    /// Reads the addresses of the feeds of some entries with one question.
    pub fn load<'e>(
        &mut self,
        store: &Store,
        entries: impl Iterator<Item = &'e EntryRow>,
    ) -> Result<(), StoreError> {
        let missing: Vec<FeedId> =
            entries.map(|entry| entry.feed).filter(|feed| !self.0.contains_key(feed)).collect();
        if missing.len() > 1 {
            let names = store.feed_names(missing)?;
            self.0.extend(names.into_iter().map(|(feed, name)| (feed, name.url.masked())));
        }
        Ok(())
    }

    fn of(&mut self, store: &Store, feed: FeedId) -> Result<&str, StoreError> {
        match self.0.entry(feed) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(vacant) => Ok(vacant.insert(match store.feed(feed) {
                Ok(row) => row.location.url.masked(),
                // The feed was removed after this entry had been read.
                Err(StoreError::NoFeed(_)) => String::new(),
                Err(error) => return Err(error),
            })),
        }
    }
}
