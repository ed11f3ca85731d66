//! Articles next to the texts of their feeds: retention of their own.

use std::time::Duration;

use feed::EntryId;
use store::{AccountId, ArticleRecord, ArticleState, ArticleText, NewArticle, SearchWords, Store};

use crate::sample::{add, at, fresh, poll};

const DAY: i64 = 86_400;
/// More than one step of the retention deletes.
const N_OLD: usize = 120;

async fn record(store: &Store, entry: i64, fetched_at: i64) {
    let text = ArticleText {
        text: "The whole text".to_owned(),
        html: "<p>The whole text</p>".to_owned(),
        n_words: 3,
        ..ArticleText::default()
    };
    let page = Some(b"<html>".to_vec());
    let new = NewArticle { text, page, facts: None, etag: None, last_modified: None };
    let record = ArticleRecord {
        entry: EntryId(entry),
        fetched_at: at(fetched_at),
        url: format!("https://example.org/{entry}"),
        extractor: "test 1".to_owned(),
        content: Ok(new),
    };
    store.record_article(record).await.unwrap();
}

/// Indexes everything that waits. Returns how many entries that were.
async fn index_all(store: &Store) -> usize {
    let mut n = 0;
    loop {
        let rows = store.unindexed(50).unwrap();
        if rows.is_empty() {
            return n;
        }
        n += rows.len();
        let ids: Vec<EntryId> = rows.iter().map(|row| row.id).collect();
        let texts = store.article_texts(&ids, 1000).unwrap();
        let words = |row: store::EntryRow| SearchWords {
            entry: row.id,
            edited_at: row.edited_at,
            title: row.title.unwrap_or_default(),
            body: texts.get(&row.id).map(|(_, text)| text.clone()).unwrap_or_default(),
            article_at: texts.get(&row.id).map(|(at, _)| *at),
        };
        store.index(rows.into_iter().map(words).collect()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_articles_go_and_their_entries_stay() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/feed");
    let names: Vec<String> = (0..N_OLD + 2).map(|n| format!("e{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ids = poll(&f.store, feed, &names, at(0));
    let (old, [starred, fresh_one]) = ids.split_at(N_OLD) else { panic!("{ids:?}") };
    for id in old.iter().chain([starred]) {
        record(&f.store, *id, 0).await;
    }
    record(&f.store, *fresh_one, 8 * DAY).await;
    f.store.star(AccountId::LOCAL, &[EntryId(*starred)], true, at(1)).unwrap();
    index_all(&f.store).await;
    let week = Duration::from_secs(7 * 86_400);
    assert_eq!(f.store.retain_articles(week, at(7 * DAY)).unwrap(), 0, "a week is not over");
    assert_eq!(f.store.retain_articles(week, at(9 * DAY)).unwrap(), N_OLD as u64);
    assert_eq!(f.store.retain_articles(week, at(9 * DAY)).unwrap(), 0);
    for id in old {
        assert_eq!(f.store.article_state(EntryId(*id)).unwrap(), ArticleState::NotAsked);
        assert_eq!(f.store.article_page(EntryId(*id)).unwrap(), None);
    }
    for id in [starred, fresh_one] {
        assert!(f.store.article(EntryId(*id)).unwrap().is_some(), "entry {id} keeps its article");
    }
    assert_eq!(f.store.feed(feed).unwrap().entries, N_OLD as u64 + 2, "the entries stay");
    assert_eq!(index_all(&f.store).await, N_OLD, "searches forget the words of the articles");
    assert_eq!(f.store.check().unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_reads_no_books() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/feed");
    let id = EntryId(poll(&f.store, feed, &["a"], at(0))[0]);
    let text = "ü".repeat(3000);
    let text = ArticleText { text, ..ArticleText::default() };
    let new = NewArticle { text, page: None, facts: None, etag: None, last_modified: None };
    let record = ArticleRecord {
        entry: id,
        fetched_at: at(1),
        url: "https://example.org/a".to_owned(),
        extractor: "test 1".to_owned(),
        content: Ok(new),
    };
    f.store.record_article(record).await.unwrap();
    for (chars_max, expect) in [(1000, 1000), (5000, 3000)] {
        let texts = f.store.article_texts(&[id], chars_max).unwrap();
        assert_eq!(texts[&id].1.chars().count(), expect);
    }
}
