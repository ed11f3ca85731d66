//! Edited entries: what their pages said stays, and a text that arrives by an edit has a language.

use feed::{EntryId, FeedId};
use store::{
    ArticleRecord, ArticleText, CategoryOrigin, EntryCategory, EntryFacts, EntryLanguage,
    LanguageOrigin, NewArticle, Store,
};

use crate::sample::{add, at, fresh, item, poll, seen};

fn language(tag: &str, source: LanguageOrigin) -> Option<EntryLanguage> {
    Some(EntryLanguage { tag: tag.to_owned(), source, confidence_permille: None })
}

fn category(name: &str, source: CategoryOrigin) -> Option<EntryCategory> {
    Some(EntryCategory { name: name.to_owned(), source })
}

/// Edits the entry `a` of a feed. `facts` are those of its new text.
fn edit(store: &Store, feed: FeedId, n: i64, facts: EntryFacts) -> EntryFacts {
    let mut record = seen(store, feed, &[item("a", &format!("edition {n}"))], at(n));
    record.document_mut().entries.edited[0].facts = facts;
    store.record_blocking(record).unwrap();
    assert_eq!(store.check().unwrap(), [], "the numbers of languages fit");
    store.entry(EntryId(1)).unwrap().unwrap().facts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_keeps_what_the_page_said() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/feed");
    poll(&f.store, feed, &["a"], at(0));
    let of_page = EntryFacts {
        language: language("de-AT", LanguageOrigin::Detected),
        category: category("Politik", CategoryOrigin::Section),
        topic: Some(11),
        wants_article: false,
    };
    let text = ArticleText { text: "Der ganze Text".to_owned(), ..ArticleText::default() };
    let facts = Some(of_page.clone());
    let new = NewArticle { text, page: None, facts, etag: None, last_modified: None };
    let record = ArticleRecord {
        entry: EntryId(1),
        fetched_at: at(1),
        url: "https://example.org/a".to_owned(),
        extractor: "test 1".to_owned(),
        content: Ok(new),
    };
    f.store.record_article(record).await.unwrap();
    let of_item = EntryFacts {
        language: language("en", LanguageOrigin::DetectedInFeed),
        category: category("News", CategoryOrigin::Feed),
        ..EntryFacts::default()
    };
    assert_eq!(edit(&f.store, feed, 2, of_item), of_page);
    let near = EntryFacts {
        language: language("en", LanguageOrigin::Detected),
        topic: Some(15),
        ..EntryFacts::default()
    };
    let expect = EntryFacts { topic: Some(15), ..of_page.clone() };
    assert_eq!(edit(&f.store, feed, 3, near), expect, "a new topic counts");
    let named = category("Sport", CategoryOrigin::Item);
    let facts = EntryFacts { category: named.clone(), ..EntryFacts::default() };
    let expect = EntryFacts { category: named, ..expect };
    assert_eq!(edit(&f.store, feed, 4, facts), expect, "so does a category of its own");
}

#[test]
fn a_text_that_arrives_by_an_edit_has_a_language() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/feed");
    poll(&f.store, feed, &["a"], at(0));
    let with = |language: &Option<EntryLanguage>| EntryFacts {
        language: language.clone(),
        ..EntryFacts::default()
    };
    let steps = [
        (language("en", LanguageOrigin::DeclaredByFeed), "en"),
        (language("de-AT", LanguageOrigin::Detected), "de-AT"),
        (None, "de-AT"),
        (language("en", LanguageOrigin::Default), "de-AT"),
        (language("fr", LanguageOrigin::Detected), "fr"),
    ];
    for (n, (new, expect)) in (1..).zip(&steps) {
        let facts = edit(&f.store, feed, n, with(new));
        assert_eq!(facts.language.map(|one| one.tag).as_deref(), Some(*expect), "step {n}");
    }
    let languages = f.store.languages().unwrap();
    let counted: Vec<_> =
        languages.iter().map(|one| (one.language.as_str(), one.n_entries)).collect();
    assert_eq!(counted, [("fr", 1)]);
}

#[test]
fn without_an_article_an_edit_says_what_the_entry_is_about() {
    let f = fresh();
    let feed = add(&f.store, "https://example.org/feed");
    poll(&f.store, feed, &["a"], at(0));
    let facts = EntryFacts {
        category: category("Sport", CategoryOrigin::Item),
        topic: Some(15),
        ..EntryFacts::default()
    };
    assert_eq!(edit(&f.store, feed, 1, facts.clone()), facts);
    assert_eq!(edit(&f.store, feed, 2, EntryFacts::default()), EntryFacts::default());
}
