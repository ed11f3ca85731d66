//! A match as it is handed over: the wire form of webhooks, files and streams. Secrets in the
//! addresses of feeds are masked.

use std::collections::HashMap;

use feed::FeedId;
use serde_json::{Value, json};
use store::{Cursor, EntryRow, QueryEntry, QueryId, Store};

/// Writes matches down; remembers the feeds it met.
#[derive(Default)]
pub struct Letters {
    feeds: HashMap<FeedId, String>,
}

impl Letters {
    /// The key by which a receiver knows a repeat: one match has one key for ever.
    pub fn key(query: &str, found: &QueryEntry) -> String {
        format!("{query}/{}", found.entry.id)
    }

    /// What a receiver gets of one match.
    pub fn letter(
        &mut self,
        store: &Store,
        (query, name): (QueryId, &str),
        found: &QueryEntry,
    ) -> Value {
        let mut entry = self.entry(store, &found.entry);
        if let Value::Object(fields) = &mut entry {
            fields.insert("content".to_owned(), json!(found.entry.content));
            fields.insert("categories".to_owned(), json!(found.entry.categories));
        }
        json!({
            "key": Letters::key(name, found),
            "query": name,
            "cursor": Cursor::Query(query, found.position).to_string(),
            "entry": entry,
            "joined_with": found.partner.map(|id| id.0),
        })
    }

    /// An entry in the contract's words, without its cursor.
    pub fn entry(&mut self, store: &Store, entry: &EntryRow) -> Value {
        let feed = self.feeds.entry(entry.feed).or_insert_with(|| {
            // A feed removed meanwhile takes its entries along; this one was read before.
            store.feed(entry.feed).map(|feed| feed.url.masked()).unwrap_or_default()
        });
        json!({
            "id": entry.id.0,
            "feed": feed,
            "title": entry.title,
            "link": entry.link,
            "author": entry.author,
            "summary": entry.summary,
            "published_at": entry.published_at.to_string(),
            "seen_at": entry.seen_at.to_string(),
        })
    }
}
