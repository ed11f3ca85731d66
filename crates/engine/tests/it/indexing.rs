//! The index of words follows the stream until it is complete, and begins again with what comes.

use std::time::Duration;

use feed::{
    EntryId, EntryKey, FeedUrl, Item, Outcome, Published, SearchColumn, SearchExpression, Time,
};
use store::{AccountId, NewEntry, NewFeed, OpenMode, PollRecord, Store};

const T0: Time = Time::from_secs(1_700_000_000);

fn poll(store: &Store, titles: impl Iterator<Item = String>, n: u64) {
    let url = FeedUrl::parse("https://a.example/").unwrap();
    let new = NewFeed { url, title: None, site: None, tags: vec![] };
    let feed = store.add_feed(&new, T0).unwrap().id;
    let generation = store.poll_input(feed).unwrap().generation;
    let at = T0 + Duration::from_secs(60 * n);
    let mut record = PollRecord::empty(feed, generation, at, Outcome::Seen, at);
    for (number, title) in titles.enumerate() {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&(n * 1000 + number as u64).to_le_bytes());
        let content = "<p>Łódź &amp; <b>火</b>山</p>".to_owned();
        let item = Item { title: Some(title), content: Some(content), ..Item::default() };
        let published = Published { claim: None, at };
        record.document_mut().entries.new.push(NewEntry {
            key: EntryKey::from_bytes(key),
            item,
            published,
            content: 0,
            facts: store::EntryFacts::default(),
        });
    }
    store.record_blocking(record).unwrap();
}

#[tokio::test]
async fn words_are_indexed_batch_by_batch_until_none_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    poll(&store, (0..250).map(|n| format!("Entry {n}")), 0);
    let mut batches = Vec::new();
    loop {
        match engine::index_once(&store).await.unwrap() {
            0 => break,
            n => batches.push(n),
        }
    }
    assert_eq!(batches, [100, 100, 50]);
    let found_in = |column, text: &str| {
        let phrase = SearchExpression::phrase(column, [text], false).unwrap();
        store.search(AccountId::LOCAL, &phrase, None, 1000).unwrap().len()
    };
    let found = |text: &str| found_in(None, text);
    let title = found_in(Some(SearchColumn::Title), "249");
    assert_eq!([found("lodz"), found("火 山"), title], [250, 250, 1]);
    poll(&store, ["late".to_owned()].into_iter(), 1);
    assert_eq!(engine::index_once(&store).await.unwrap(), 1);
    assert_eq!(store.indexed_to().unwrap(), EntryId(251));
    assert_eq!(found("late"), 1);
}
