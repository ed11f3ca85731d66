//! The full-text index.

use feed::{EntryId, Item, SearchColumn, SearchExpression};
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
                article_at: None,
            })
            .collect();
        runtime.block_on(store.index(words)).unwrap();
    }
}

fn phrase(words: &str) -> SearchExpression {
    SearchExpression::phrase(None, [words], false).unwrap()
}

fn in_column(column: SearchColumn, words: &str) -> SearchExpression {
    SearchExpression::phrase(Some(column), [words], false).unwrap()
}

fn matches(store: &Store, expression: &SearchExpression) -> Vec<i64> {
    let found = store.search(AccountId::LOCAL, expression, None, 10).unwrap();
    found.iter().map(|found| found.entry.id.0).collect()
}

/// Returns the entries with these words one after another.
fn found(store: &Store, words: &str) -> Vec<i64> {
    matches(store, &phrase(words))
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
    assert_eq!(matches(store, &in_column(SearchColumn::Title, "of b")).len(), 1);
    assert!(matches(store, &in_column(SearchColumn::Body, "of b")).is_empty());
    let older = store.search(AccountId::LOCAL, &phrase("title"), Some(EntryId(3)), 1).unwrap();
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
        article_at: None,
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

/// Texts beyond the limits of a `tsvector`: places, places of one word, bytes of all words.
#[test]
fn words_of_very_long_texts_are_found_in_their_column() {
    let fresh = fresh();
    let store = &fresh.store;
    let feed = add(store, "https://a.example/");
    let many: Vec<String> = (0..20_000).map(|n| format!("w{n}")).collect();
    let large: Vec<String> = (0..20_000).map(|n| format!("{n:x>64}")).collect();
    let bodies = [many.join(" "), format!("{}volcano ash", "the ".repeat(1000)), large.join(" ")];
    let items = bodies
        .into_iter()
        .zip(["a", "b", "c"])
        .map(|(body, id)| Item { summary: Some(body), ..item(id, "glacier ice") });
    let items: Vec<Item> = items.collect();
    // The last item of a document is recorded first.
    store.record_blocking(seen(store, feed, &items, T0)).unwrap();
    index_all(store);
    for words in ["w1", "w0 w1", "w16382 w16383", "w19998 w19999"] {
        assert!(found(store, words).contains(&3), "{words}");
    }
    for words in ["volcano", "the the", "the volcano ash"] {
        assert!(found(store, words).contains(&2), "{words}");
    }
    let last = format!("{:x>64}", 19_999);
    assert_eq!(found(store, &last), [1]);
    assert!(found(store, "glacier ice").ends_with(&[3, 2, 1]) && found(store, "ash").contains(&2));
    let title = matches(store, &in_column(SearchColumn::Title, "w1"));
    assert!(!title.contains(&3) && !title.contains(&2), "{title:?}");
    let prefix = SearchExpression::phrase(Some(SearchColumn::Body), ["volc"], true).unwrap();
    assert!(matches(store, &prefix).contains(&2));
}

/// PostgreSQL reads the newest 4,096 entries one by one and asks its index for the others.
#[test]
fn old_entries_are_found_behind_the_newest() {
    let fresh = fresh();
    let store = &fresh.store;
    let feed = add(store, "https://a.example/");
    let items: Vec<Item> = (0..4300).map(|n| item(&n.to_string(), "ice")).collect();
    store.record_blocking(seen(store, feed, &items, T0)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let words = (1..=4300).map(|id| SearchWords {
        entry: EntryId(id),
        edited_at: None,
        title: if id % 100 == 4 { "volcano ash" } else { "ash volcano" }.to_owned(),
        body: if id < 100 { "ice" } else { "" }.to_owned(),
        article_at: None,
    });
    runtime.block_on(store.index(words.collect())).unwrap();
    let below = |words: &str, below: i64, limit: u32| -> Vec<i64> {
        let found = store.search(AccountId::LOCAL, &phrase(words), Some(EntryId(below)), limit);
        found.unwrap().iter().map(|found| found.entry.id.0).collect()
    };
    let every: Vec<i64> = (0..43).rev().map(|n| n * 100 + 4).collect();
    assert_eq!(below("volcano ash", i64::MAX, 100), every);
    assert_eq!(below("volcano ash", 4204, 41), &every[1..42]);
    assert_eq!(below("volcano ash", 204, 9), [104, 4]);
    assert_eq!(below("ice", i64::MAX, 3), [99, 98, 97]);
    assert_eq!(below("volcano", 4299, 2), [4298, 4297]);
}
