//! The full-text index.

use feed::EntryId;
use store::{AccountId, SearchWords, Store};

use crate::sample::{T0, add, at, fresh, item, poll, seen};

fn index_all(store: &Store) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    loop {
        let rows = store.unindexed(2).unwrap();
        if rows.is_empty() {
            return;
        }
        let words = rows
            .into_iter()
            .map(|row| SearchWords {
                entry: row.id,
                edited_at: row.edited_at,
                title: row.title.unwrap_or_default(),
                body: row.summary.unwrap_or_default(),
            })
            .collect();
        runtime.block_on(store.index(words)).unwrap();
    }
}

fn found(store: &Store, expression: &str) -> Vec<i64> {
    let found = store.search(AccountId::LOCAL, expression, None, 10).unwrap();
    found.iter().map(|found| found.entry.id.0).collect()
}

#[test]
fn entries_are_found_newest_first_once_indexed() {
    let fresh = fresh();
    let store = &fresh.store;
    let feed = add(store, "https://a.example/");
    poll(store, feed, &["a", "b", "c"], T0);
    assert!(found(store, "title").is_empty());
    index_all(store);
    assert_eq!(store.indexed_to().unwrap(), EntryId(3));
    assert_eq!(found(store, "title"), [3, 2, 1]);
    assert_eq!(found(store, "title : \"of b\"").len(), 1);
    let older = store.search(AccountId::LOCAL, "title", Some(EntryId(3)), 1).unwrap();
    assert_eq!(older[0].entry.id, EntryId(2));
}

#[test]
fn an_edit_is_indexed_anew_and_what_goes_is_no_longer_found() {
    let fresh = fresh();
    let store = &fresh.store;
    let feed = add(store, "https://a.example/");
    let record = seen(store, feed, &[item("a", "volcano")], T0);
    store.record_blocking(record).unwrap();
    index_all(store);
    assert_eq!(found(store, "volcano"), [1]);
    let record = seen(store, feed, &[item("a", "glacier")], at(10));
    assert_eq!(record.document().unwrap().entries.edited.len(), 1);
    store.record_blocking(record).unwrap();
    index_all(store);
    assert!(found(store, "volcano").is_empty());
    assert_eq!(found(store, "glacier"), [1]);
    store.remove_feed(feed).unwrap();
    assert!(found(store, "glacier").is_empty());
    assert!(store.unindexed(9).unwrap().is_empty());
}

#[test]
fn an_edit_or_removal_while_words_are_on_their_way_is_not_lost() {
    let fresh = fresh();
    let store = &fresh.store;
    let feed = add(store, "https://a.example/");
    let record = seen(store, feed, &[item("a", "volcano")], T0);
    store.record_blocking(record).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let words = |title: &str| SearchWords {
        entry: EntryId(1),
        edited_at: None,
        title: title.to_owned(),
        body: String::new(),
    };
    // Read before the edit, written after it.
    let record = seen(store, feed, &[item("a", "glacier")], at(10));
    store.record_blocking(record).unwrap();
    runtime.block_on(store.index(vec![words("volcano")])).unwrap();
    assert_eq!(store.unindexed(9).unwrap().len(), 1);
    index_all(store);
    assert!(found(store, "volcano").is_empty());
    assert_eq!(found(store, "glacier"), [1]);
    // Read before the removal, written after it.
    store.remove_feed(feed).unwrap();
    runtime.block_on(store.index(vec![words("glacier")])).unwrap();
    assert!(found(store, "glacier").is_empty());
    assert!(store.unindexed(9).unwrap().is_empty());
}

/// A feed that shows and edits old entries after retention has deleted their texts.
#[test]
fn edits_of_dropped_entries_keep_no_other_edit_waiting() {
    let fresh = fresh();
    let store = &fresh.store;
    let feed = add(store, "https://a.example/");
    let items = |word: &str| ["a", "b", "c", "d"].map(|id| item(id, &format!("{word} {id}")));
    store.record_blocking(seen(store, feed, &items("volcano"), T0)).unwrap();
    index_all(store);
    let rule = store::Retention { entries_max: Some(1), ..store::Retention::off() };
    assert_eq!(store.retain(&rule, at(5)).unwrap().entries, 3);
    let record = seen(store, feed, &items("glacier"), at(10));
    assert_eq!(record.document().unwrap().entries.edited.len(), 4);
    store.record_blocking(record).unwrap();
    index_all(store);
    assert_eq!(found(store, "glacier"), [4]);
    assert!(found(store, "volcano").is_empty());
}
