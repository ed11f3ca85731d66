//! A store with queries. Each query matches the entries whose title contains its name; `all`
//! matches all.

use std::sync::Arc;
use std::time::Duration;

use api::{EngineState, ServerContext, router};
use axum::Router;
use feed::{FeedUrl, Item, Outcome, Published, Time};
use store::{
    ArrivedEntry, EntryMatcher, NewEntry, NewFeed, NewQuery, OpenMode, PollRecord, QueryChange,
    QueryId, QueryMatch, QueryStateChange, RelevantShare, Store,
};
use tempfile::TempDir;

pub const T0: Time = Time::from_secs(1_700_000_000);

#[derive(Default)]
pub struct MatchByName(Vec<(QueryId, String)>);

impl EntryMatcher for MatchByName {
    fn fresh(&self) -> Box<dyn EntryMatcher> {
        Box::new(MatchByName::default())
    }
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    fn clear(&mut self) {
        self.0.clear();
    }
    fn put(&mut self, id: QueryId, name: &str, _: &str, _: &[(u64, Vec<u8>)]) -> Vec<u64> {
        self.0.push((id, name.to_owned()));
        Vec::new()
    }
    fn remove_query(&mut self, id: QueryId) {
        self.0.retain(|(other, _)| *other != id);
    }
    fn reads(&self, _: &str, _: &[String]) -> bool {
        true
    }
    fn match_entry(&mut self, entry: &ArrivedEntry<'_>) -> Vec<QueryMatch> {
        let title = entry.title.unwrap_or_default();
        let keeps = |name: &str| name == "all" || title.contains(name);
        let keeping = self.0.iter().filter(|(_, name)| keeps(name));
        keeping.map(|(query, _)| QueryMatch { query: *query, partner: None }).collect()
    }
    fn take_changes(&mut self) -> Vec<QueryStateChange> {
        Vec::new()
    }
    fn decayed_share(&self, before: RelevantShare, _: u32, _: u32) -> RelevantShare {
        before
    }
}

pub struct Fixture {
    pub store: Store,
    pub router: Router,
    pub context: ServerContext,
    pub _folder: TempDir,
}

impl Fixture {
    pub fn new(open: bool) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let store =
            Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
        store.install(Box::new(MatchByName::default())).unwrap();
        let now: Arc<dyn Fn() -> Time + Send + Sync> = Arc::new(|| T0 + Duration::from_secs(3600));
        let mut context = ServerContext::new(store.clone(), now, Arc::new(live), "1").unwrap();
        context.data = folder.path().to_owned();
        if !open {
            store.add_account("somebody", "no hash", T0).unwrap().unwrap();
        }
        let router = router(context.clone());
        Fixture { store, router, context, _folder: folder }
    }

    /// Adds a query with these words after its sources.
    pub fn query(&self, name: &str, options: &str) {
        let new = NewQuery {
            name: name.to_owned(),
            text: format!("CREATE FEED {name} AS RETURN ALL FEEDS {options}"),
            urls: Vec::new(),
            receivers: Vec::new(),
            scope: store::QueryScope::default(),
            link_key: "opensesame".to_owned(),
            signing_key: "k".to_owned(),
        };
        self.store.change_queries(vec![QueryChange::Put(new)], None, T0).unwrap();
    }

    /// Records a poll of a known feed with one new entry of this age, together with known ones.
    pub fn see_again(&self, url: &str, title: &str, after: u64, late: u64) {
        let at = T0 + Duration::from_secs(after);
        let feed = self.store.feeds(&store::FeedFilter::default()).unwrap();
        let feed = feed.iter().find(|f| f.location.url.as_str() == url).unwrap().id;
        let generation = self.store.poll_input(feed).unwrap().generation;
        let mut record = PollRecord::empty(feed, generation, at, Outcome::Seen, at);
        record.observed.overlap = 1;
        let key = feed::EntryKey::from_bytes([7; 16]);
        let published = at - Duration::from_secs(late);
        let published = Published { claim: Some(published), at: published };
        let item = Item { title: Some(title.to_owned()), ..Item::default() };
        record.document_mut().entries.new.push(NewEntry {
            key,
            item,
            published,
            content: 0,
            facts: store::EntryFacts::default(),
        });
        self.store.record_blocking(record).unwrap();
    }

    /// Records a poll with entries of these titles, oldest first.
    pub fn see(&self, url: &str, titles: &[&str], after: u64) {
        let item = |(number, title): (usize, &&str)| Item {
            id: Some(format!("id {title}")),
            title: Some((*title).to_owned()),
            link: Some(format!("https://e.org/{after}/{number}")),
            content: Some("<p>1 &lt; 2</p>".to_owned()),
            ..Item::default()
        };
        self.see_items(url, titles.iter().enumerate().map(item).collect(), after);
    }

    /// Records a poll with these entries, oldest first.
    pub fn see_items(&self, url: &str, items: Vec<Item>, after: u64) {
        let at = T0 + Duration::from_secs(after);
        let url = FeedUrl::parse(url).unwrap();
        let new = NewFeed { url, title: Some("Their <feed>".into()), site: None, tags: vec![] };
        let feed = self.store.add_feed(&new, T0).unwrap().id;
        let generation = self.store.poll_input(feed).unwrap().generation;
        let mut record = PollRecord::empty(feed, generation, at, Outcome::Seen, at);
        for (number, item) in items.into_iter().enumerate() {
            let mut key = [0; 16];
            key[..8].copy_from_slice(&(after * 1000 + number as u64).to_le_bytes());
            let key = feed::EntryKey::from_bytes(key);
            let published = Published { claim: Some(at), at };
            record.document_mut().entries.new.push(NewEntry {
                key,
                item,
                published,
                content: 0,
                facts: store::EntryFacts::default(),
            });
        }
        self.store.record_blocking(record).unwrap();
    }
}

pub fn live() -> EngineState {
    EngineState {
        not_ready: None,
        polls_elsewhere: false,
        demo: false,
        started_at: T0,
        in_flight: 0,
        waiting: 0,
        outage: None,
        lacking_regions: Vec::new(),
        polls_total: 0,
        polls_failed_total: 0,
        polls_last_hour: 0,
        entries_total: 0,
        bytes_total: 0,
    }
}
