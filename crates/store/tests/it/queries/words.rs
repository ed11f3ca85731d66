//! A matcher for tests, and the queries that it knows.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use feed::EntryId;
use store::{
    ArrivedArticle, ArrivedEntry, EntryMatcher, NewQuery, QueryChange, QueryId, QueryMatch,
    QueryStateChange, RelevantShare, Store,
};

use crate::sample::{Fresh, T0, fresh, url};

/// A matcher that matches entries whose title contains the query's text. It stores one state record
/// for each match, and panics at a certain word. A query whose text begins with [`WAITS`] waits for
/// the page of an entry.
#[derive(Default)]
pub struct Words {
    queries: Vec<(QueryId, String, u64)>,
    changes: Vec<QueryStateChange>,
    /// The state that the test reads: each query with the number of its records.
    pub shown: Shown,
    /// Notified before a replay reads its first entry.
    trial: Option<Trial>,
    held: Option<Trial>,
    since: HashMap<QueryId, EntryId>,
}

const WAITS: &str = "page:";

/// Notifies the test that a replay has started, and waits until it may continue.
pub type Trial = (SyncSender<()>, Arc<Mutex<Receiver<()>>>);

impl Words {
    /// A matcher whose replays wait before their first entry.
    pub fn held(trial: Trial) -> Words {
        Words { trial: Some(trial), ..Words::default() }
    }

    fn kept(
        &mut self,
        entry: &ArrivedEntry<'_>,
        decides: impl Fn(QueryId, &str) -> bool,
    ) -> Vec<QueryMatch> {
        let title = entry.title.unwrap_or_default();
        let mut kept = Vec::new();
        for (id, text, n) in &mut self.queries {
            if decides(*id, text) && title.contains(text.trim_start_matches(WAITS)) {
                *n += 1;
                let bytes = entry.id.0.to_le_bytes().to_vec();
                self.changes.push(QueryStateChange::Remember { query: *id, number: *n, bytes });
                kept.push(QueryMatch { query: *id, partner: None });
            }
        }
        self.show();
        kept
    }

    fn show(&self) {
        let shown = self.queries.iter().map(|(_, text, n)| (text.clone(), *n)).collect();
        *self.shown.lock().unwrap() = shown;
    }
}

impl EntryMatcher for Words {
    fn fresh(&self) -> Box<dyn EntryMatcher> {
        Box::new(Words { held: self.trial.clone(), ..Words::default() })
    }

    fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    fn clear(&mut self) {
        self.queries.clear();
        self.changes.clear();
    }

    fn put(&mut self, id: QueryId, _: &str, text: &str, records: &[(u64, Vec<u8>)]) -> Vec<u64> {
        self.remove_query(id);
        self.queries.push((id, text.to_owned(), records.last().map_or(0, |(n, _)| *n)));
        self.show();
        Vec::new()
    }

    fn remove_query(&mut self, id: QueryId) {
        self.queries.retain(|(other, ..)| *other != id);
    }

    fn reads(&self, feed_url: &str, _: &[String]) -> bool {
        !feed_url.contains("unread")
    }

    fn match_entry(&mut self, entry: &ArrivedEntry<'_>) -> Vec<QueryMatch> {
        if let Some((tell, go)) = self.held.take() {
            tell.send(()).unwrap();
            let went_on = go.lock().unwrap().recv_timeout(Duration::from_secs(120));
            went_on.expect("a poll waits for the look at the past");
        }
        let title = entry.title.unwrap_or_default();
        assert!(!title.contains("bomb"), "a fault of ours");
        self.kept(entry, |_, text| {
            !text.starts_with(WAITS) || entry.article != ArrivedArticle::Expected
        })
    }

    fn note_since(&mut self, query: QueryId, since: EntryId) {
        self.since.insert(query, since);
    }

    fn waits(&self, query: QueryId) -> bool {
        self.queries.iter().any(|(id, text, _)| *id == query && text.starts_with(WAITS))
    }

    fn has_waiting(&self) -> bool {
        self.queries.iter().any(|(_, text, _)| text.starts_with(WAITS))
    }

    fn match_waiting(&mut self, entry: &ArrivedEntry<'_>, _: &[String]) -> Vec<QueryMatch> {
        let since = self.since.clone();
        self.kept(entry, |id, text| text.starts_with(WAITS) && entry.id > since[&id])
    }

    fn take_changes(&mut self) -> Vec<QueryStateChange> {
        std::mem::take(&mut self.changes)
    }

    fn decayed_share(&self, before: RelevantShare, n_seen: u32, n_kept: u32) -> RelevantShare {
        RelevantShare {
            seen: before.seen + f64::from(n_seen),
            kept: before.kept + f64::from(n_kept),
        }
    }
}

pub fn put(name: &str, text: &str, urls: &[&str]) -> QueryChange {
    QueryChange::Put(NewQuery {
        name: name.to_owned(),
        text: text.to_owned(),
        urls: urls.iter().map(|text| url(text)).collect(),
        receivers: vec![format!("webhook https://example.org/{name}")],
        scope: store::QueryScope::default(),
        link_key: "link".to_owned(),
        signing_key: "sign".to_owned(),
    })
}

/// The text of each query with the number of its records.
pub type Shown = Arc<Mutex<Vec<(String, u64)>>>;

pub fn watched() -> (Fresh, Shown) {
    let fresh = fresh();
    let words = Words::default();
    let shown = Arc::clone(&words.shown);
    fresh.store.install(Box::new(words)).unwrap();
    (fresh, shown)
}

pub fn apply(store: &Store, changes: Vec<QueryChange>) -> store::QueriesChanged {
    store.change_queries(changes, None, T0).unwrap()
}

/// Positions and entries of a query.
pub fn kept(store: &Store, name: &str) -> Vec<(i64, i64)> {
    let query = store.query(name).unwrap().unwrap();
    let page = store.query_entries(query.id, 0, 1000).unwrap();
    page.entries.iter().map(|found| (found.position, found.entry.id.0)).collect()
}
