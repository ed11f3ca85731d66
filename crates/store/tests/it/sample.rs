//! A store in a temporary folder, and polls to record in it.

use std::collections::HashMap;

use feed::{DocumentDates, FeedId, FeedUrl, Item, Known, Outcome, Published, Sighting, Time};
use store::{EditedEntry, NewEntry, NewFeed, OpenMode, PollRecord, Store};
use tempfile::TempDir;

pub const T0: Time = Time::from_secs(1_700_000_000);

pub fn at(secs: i64) -> Time {
    Time::from_secs(T0.secs() + secs)
}

/// A store whose folder is removed when the test ends.
pub struct Fresh {
    pub store: Store,
    pub folder: TempDir,
}

pub fn fresh() -> Fresh {
    let folder = tempfile::tempdir().unwrap();
    Fresh {
        store: Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap(),
        folder,
    }
}

pub fn url(text: &str) -> FeedUrl {
    FeedUrl::parse(text).unwrap()
}

pub fn new_feed(text: &str) -> NewFeed {
    NewFeed { url: url(text), title: None, site: None, tags: Vec::new() }
}

pub fn add(store: &Store, text: &str) -> FeedId {
    store.add_feed(&new_feed(text), T0).unwrap().id
}

pub fn item(id: &str, title: &str) -> Item {
    Item { id: Some(id.to_owned()), title: Some(title.to_owned()), ..Item::default() }
}

pub fn items(ids: &[&str]) -> Vec<Item> {
    ids.iter().map(|id| item(id, &format!("title of {id}"))).collect()
}

/// A poll with these items, made from the stored input as the engine does it.
pub fn seen(store: &Store, feed: FeedId, items: &[Item], at: Time) -> PollRecord {
    let input = store.poll_input(feed).unwrap();
    let keyed = feed::identify(items.to_vec(), &input.document.window);
    let comparison = feed::WindowComparison::new(&keyed, &input.document.window);
    let beyond: Vec<_> = comparison.beyond().map(|keyed| keyed.key).collect();
    let known: Known = store.known(feed, &beyond).unwrap();
    let dates = DocumentDates::default();
    let seen = comparison.observe(&known, dates, at, input.history.last_success_at, false);
    let mut record = PollRecord::empty(feed, input.generation, at, Outcome::Seen, at);
    for (index, sighting, entry) in seen.sightings.iter().rev() {
        let (key, content) = (entry.key, entry.content);
        let Some(item) = keyed[*index].item.clone() else { continue };
        match sighting {
            Sighting::New => {
                let claim = item.published.or(item.updated);
                let published = Published { claim, at: entry.published_at };
                record.document_mut().entries.new.push(NewEntry {
                    key,
                    item,
                    published,
                    content,
                    facts: store::EntryFacts::default(),
                });
            }
            Sighting::Edited => {
                record.document_mut().entries.edited.push(EditedEntry {
                    key,
                    item,
                    content,
                    facts: store::EntryFacts::default(),
                });
            }
            Sighting::Known | Sighting::Returned => {}
        }
    }
    let tag = format!("\"{}\"", seen.window.encode().len() + items.len());
    record.document_mut().validators.etag = Some(tag.into_bytes());
    record.document_mut().body_hash = [7; 16];
    record.observed.len = u32::try_from(items.len()).unwrap();
    record.observed.overlap = u32::try_from(seen.overlap).unwrap();
    record.observed.suspected_miss = seen.suspected_miss;
    record.document_mut().entries.window = Some(seen.window);
    record.decision.next.at = at + std::time::Duration::from_secs(3600);
    record
}

/// Polls once and returns the ids of the new entries.
pub fn poll(store: &Store, feed: FeedId, ids: &[&str], at: Time) -> Vec<i64> {
    let record = seen(store, feed, &items(ids), at);
    store.record_blocking(record).unwrap().new_ids.iter().map(|id| id.0).collect()
}

pub fn unchanged(store: &Store, feed: FeedId, at: Time) -> PollRecord {
    let generation = store.poll_input(feed).unwrap().generation;
    PollRecord::empty(feed, generation, at, Outcome::Unchanged, at)
}

/// Returns the guids of all entries in the order of the stream.
pub fn guids(store: &Store) -> Vec<String> {
    let filter = store::EntryFilter { feed: None, limit: u32::MAX };
    let (mut after, mut guids) = (feed::EntryId(0), Vec::new());
    loop {
        let rows = store.entries(after, &filter).unwrap();
        let Some(last) = rows.last() else { return guids };
        after = last.id;
        guids.extend(rows.into_iter().map(|row| row.guid.unwrap_or_default()));
    }
}

/// Returns the texts that occur more than once, with their number.
pub fn doubles(texts: &[String]) -> Vec<&String> {
    let mut seen = HashMap::new();
    texts.iter().for_each(|text| *seen.entry(text).or_insert(0) += 1);
    seen.into_iter().filter(|(_, n)| *n > 1).map(|(text, _)| text).collect()
}
