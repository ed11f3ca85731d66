//! The JSON form of a match, for webhooks, files and streams. Secrets in the addresses of feeds are
//! masked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use feed::{FeedId, Source};
use serde_json::{Value, json};
use store::{EntryRow, QueryEntry, QueryId, Store, StoreError, StreamCursor};

/// Writes matches as JSON. It remembers the feeds that it has read.
#[derive(Default)]
pub struct MatchMessages {
    feeds: HashMap<FeedId, String>,
}

impl MatchMessages {
    /// Returns the key of a match. It never changes, so a receiver can recognise repeats.
    pub fn key(query: &str, found: &QueryEntry) -> String {
        format!("{query}/{}", found.entry.id)
    }

    /// Returns the message to a receiver about one match.
    pub fn message(
        &mut self,
        store: &Store,
        (query, name): (QueryId, &str),
        found: &QueryEntry,
    ) -> Result<Value, StoreError> {
        let mut entry = self.entry(store, &found.entry)?;
        if let Value::Object(fields) = &mut entry {
            fields.insert("content".to_owned(), json!(found.entry.content));
            fields.insert("categories".to_owned(), json!(found.entry.categories));
        }
        Ok(json!({
            "key": MatchMessages::key(name, found),
            "query": name,
            "cursor": StreamCursor::Query(query, found.position).to_string(),
            "entry": entry,
            "joined_with": found.partner.map(|id| id.0),
        }))
    }

    /// Returns an entry as JSON, without its cursor.
    pub fn entry(&mut self, store: &Store, entry: &EntryRow) -> Result<Value, StoreError> {
        let feed = self.url(store, entry.feed)?;
        Ok(json!({
            "id": entry.id.0,
            "feed": feed,
            "title": entry.title,
            "link": entry.link,
            "author": entry.author,
            "summary": entry.summary,
            "published_at": entry.published_at.to_string(),
            "seen_at": entry.seen_at.to_string(),
            "source": entry.source.as_ref().map(origin),
        }))
    }

    fn url(&mut self, store: &Store, feed: FeedId) -> Result<&str, StoreError> {
        match self.feeds.entry(feed) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(vacant) => Ok(vacant.insert(match store.feed(feed) {
                Ok(row) => row.location.url.masked(),
                // The feed was removed with its entries after this entry had been read.
                Err(StoreError::NoFeed(_)) => String::new(),
                Err(error) => return Err(error),
            })),
        }
    }
}

/// Returns the first feed of an entry that came through another instance.
fn origin(source: &Source) -> Value {
    json!({ "feed": source.name(), "title": source.title, "via": source.via })
}
