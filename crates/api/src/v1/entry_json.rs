//! Entries of the stream as JSON, in the words of the contract. Secrets in the addresses of feeds
//! are masked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use feed::FeedId;
use serde_json::{Value, json};
use store::{EntryRow, Store, StoreError, StreamCursor};

/// The masked addresses of the feeds met so far, read from the store once each.
#[derive(Default)]
pub struct FeedAddresses(HashMap<FeedId, String>);

impl FeedAddresses {
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

    /// Returns an entry with its content, under the field names of the contract.
    pub fn entry(
        &mut self,
        store: &Store,
        cursor: StreamCursor,
        entry: &EntryRow,
    ) -> Result<Value, StoreError> {
        Ok(json!({
            "cursor": cursor.to_string(),
            "id": entry.id.0,
            "feed": self.of(store, entry.feed)?,
            "title": entry.title,
            "link": entry.link,
            "author": entry.author,
            "summary": entry.summary,
            "content": entry.content,
            "categories": entry.categories,
            "published_at": entry.published_at.to_string(),
            "seen_at": entry.seen_at.to_string(),
        }))
    }
}
