//! Queries over entries that are stored already: positions, polls and pages that come meanwhile.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use feed::FeedId;
use store::{QueryChange, Store};

use super::words::{Words, apply, kept, put, watched};
use crate::sample::{add, at, fresh, items, poll, seen};

#[test]
fn the_past_is_kept_on_request_once_and_before_the_present() {
    let (fresh, shown) = watched();
    let store = &fresh.store;
    let feed = add(store, "https://example.org/a");
    poll(store, feed, &["red 0"], at(-100_000));
    let ids = poll(store, feed, &["red 2", "red 1"], at(0));
    apply(store, vec![put("Other", "title", &[])]);
    let changed = store.change_queries(vec![put("Red", "red", &[])], Some(at(-50)), at(1)).unwrap();
    assert_eq!(changed.n_past, 2);
    assert_eq!(kept(store, "Red"), [(1, ids[0]), (2, ids[1])]);
    assert!(kept(store, "Other").is_empty(), "the others are not asked about the past");
    poll(store, feed, &["red 3", "red 2", "red 1"], at(10));
    assert_eq!(kept(store, "Red").len(), 3);
    let again = store.change_queries(vec![put("Red", "red", &[])], Some(at(-200_000)), at(20));
    assert_eq!(again.unwrap().n_past, 1, "only what it did not have");
    assert_eq!(kept(store, "Red").len(), 4);
    let remembered = shown.lock().unwrap().iter().find(|(text, _)| text == "red").unwrap().1;
    assert_eq!(remembered, 4, "its memory is that of all it was shown");
}

/// An entry recorded during a replay comes last in it, and gets one position.
#[test]
fn polls_go_on_while_the_past_is_looked_at() {
    let fresh = fresh();
    let store = &fresh.store;
    let ((tell, told), (go, wait)) = (sync_channel(1), sync_channel(1));
    let words = Words::held((tell, Arc::new(Mutex::new(wait))));
    store.install(Box::new(words)).unwrap();
    let (feed, gone) = (add(store, "https://a.org/"), add(store, "https://b.org/"));
    let mut ids = poll(store, feed, &["red 2", "red 1"], at(0));
    poll(store, gone, &["red 3"], at(1));
    let changed = std::thread::scope(|scope| {
        let change = scope.spawn(|| {
            let changes = vec![put("Old", "old", &[]), QueryChange::Drop("Old".to_owned())];
            let changes = [changes, vec![put("Red", "red", &[])]].concat();
            store.change_queries(changes, Some(at(-50)), at(1))
        });
        told.recv_timeout(Duration::from_secs(120)).unwrap();
        ids.extend(poll(store, feed, &["red 4", "red 2", "red 1"], at(2)));
        store.remove_feed(gone).unwrap();
        go.send(()).unwrap();
        change.join().unwrap().unwrap()
    });
    assert_eq!(changed.n_past, 3);
    ids.extend(poll(store, feed, &["red 5", "red 4", "red 2", "red 1"], at(3)));
    let expected: Vec<(i64, i64)> = (1..).zip(ids).collect();
    assert_eq!(kept(store, "Red"), expected);
    assert_eq!(store.check().unwrap(), []);
}

/// Records an entry whose page is to come. Returns its number.
fn poll_wanting(store: &Store, feed: FeedId, titles: &[&str], secs: i64) -> i64 {
    let mut record = seen(store, feed, &items(titles), at(secs));
    for new in &mut record.document_mut().entries.new {
        new.facts.wants_article = true;
    }
    store.record_blocking(record).unwrap().new_ids[0].0
}

/// An entry whose page is on its way is neither lost to a query over the past nor kept twice.
#[tokio::test]
async fn a_query_over_the_past_waits_for_pages_that_are_on_their_way() {
    let (fresh, _) = watched();
    let store = &fresh.store;
    let feed = add(store, "https://example.org/a");
    apply(store, vec![put("Once", "red", &[])]);
    let wait = Duration::from_secs(60);
    let first = poll_wanting(store, feed, &["red 1"], 0);
    store.request_new_articles(at(1), wait, 10).await.unwrap();
    let second = poll_wanting(store, feed, &["red 2", "red 1"], 10);
    let changes = vec![put("Page", "page:red", &[]), put("Once", "page:red", &[])];
    let changed = store.change_queries(changes, Some(at(-50)), at(11)).unwrap();
    assert_eq!(changed.n_past, 0, "their pages may still come");
    store.request_new_articles(at(12), wait, 10).await.unwrap();
    assert_eq!(store.pass_article_deadlines(at(100), 10).await.unwrap().n_entries, 2);
    let expected = [(1, first), (2, second)];
    assert_eq!(kept(store, "Page"), expected);
    assert_eq!(kept(store, "Once"), expected, "it had them before");
}

/// The page comes, or its deadline, after the replay has read the entry.
#[test]
fn pages_may_come_while_the_past_is_looked_at() {
    let fresh = fresh();
    let store = &fresh.store;
    let ((tell, told), (go, wait)) = (sync_channel(1), sync_channel(1));
    let words = Words::held((tell, Arc::new(Mutex::new(wait))));
    store.install(Box::new(words)).unwrap();
    let feed = add(store, "https://a.org/");
    let entry = poll_wanting(store, feed, &["red 1"], 0);
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    runtime.block_on(store.request_new_articles(at(1), Duration::from_secs(60), 10)).unwrap();
    let changed = std::thread::scope(|scope| {
        let change =
            || store.change_queries(vec![put("Red", "page:red", &[])], Some(at(-50)), at(1));
        let change = scope.spawn(change);
        told.recv_timeout(Duration::from_secs(120)).unwrap();
        runtime.block_on(store.pass_article_deadlines(at(100), 10)).unwrap();
        go.send(()).unwrap();
        change.join().unwrap().unwrap()
    });
    assert_eq!((changed.n_past, kept(store, "Red")), (1, vec![(1, entry)]));
}
