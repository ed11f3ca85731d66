//! Search over a real index: words, operators, and updates of the index.

use std::time::Duration;

use api::auth::Person;
use api::search::{ArticleTexts, SearchError, find, query_entry};
use feed::{EntryId, EntryKey, FeedUrl, Item, Outcome, Published, Time};
use query::Search;
use store::{EntryFilter, NewEntry, NewFeed, PollRecord, SearchWords, Store};

use crate::fixture::{Fixture, T0};

/// Indexes all entries, as the engine does after polls.
pub async fn index_all(store: &Store) {
    loop {
        let rows = store.unindexed(100).unwrap();
        if rows.is_empty() {
            return;
        }
        let ids: Vec<EntryId> = rows.iter().map(|row| row.id).collect();
        let articles = store.article_texts(&ids, 1000).unwrap();
        let texts = ArticleTexts::read(store, ids.into_iter()).unwrap();
        let cut = rows.iter().map(|row| {
            let feed = store.feed(row.feed).unwrap();
            let (title, body) = query::index_words(&texts.entry(row, &feed));
            let article_at = articles.get(&row.id).map(|(at, _)| *at);
            SearchWords { entry: row.id, edited_at: row.edited_at, title, body, article_at }
        });
        let cut = cut.collect();
        store.index(cut).await.unwrap();
    }
}

fn item(title: &str, content: &str, author: &str, category: &str) -> Item {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Item {
        title: text(title),
        content: text(content),
        author: text(author),
        categories: text(category).into_iter().collect(),
        ..Item::default()
    }
}

fn keep(shelf: &Fixture, url: &str, tag: &str, items: Vec<Item>) {
    let url = FeedUrl::parse(url).unwrap();
    let new = NewFeed { url, title: None, site: None, tags: vec![tag.to_owned()] };
    let feed = shelf.store.add_feed(&new, T0).unwrap().id;
    let generation = shelf.store.poll_input(feed).unwrap().generation;
    let mut record = PollRecord::empty(feed, generation, T0, Outcome::Seen, T0);
    for (number, item) in items.into_iter().enumerate() {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&(number as u64).to_le_bytes());
        let at = T0 - Duration::from_secs(86_400 * number as u64);
        let published = Published { claim: Some(at), at };
        let key = EntryKey::from_bytes(key);
        record.document_mut().entries.new.push(NewEntry {
            key,
            item,
            published,
            content: 0,
            facts: store::EntryFacts::default(),
        });
    }
    shelf.store.record_blocking(record).unwrap();
}

/// Entries 1 to 9, in every kind of script.
async fn shelf() -> Fixture {
    let shelf = Fixture::new(true);
    let items = vec![
        item("Iceland volcano erupts again", "<p>Ash <b>cloud</b></p>", "Jane O'Neill", "Science"),
        item("Cake without flour", "<p>An iceland of cream, a volcano of fruit</p>", "", "Food"),
        item("火山灰覆盖日本", "<p>火。山</p>", "", ""),
        item("Извержение вулкана в Исландии", "", "Иван", "Наука"),
        item("أخبار البُركان", "<p>الإمارات</p>", "", ""),
        item("C++ and C# compared", "", "Jane Doe", "Code"),
        item("Crème brûlée", "<p>Straße nach Łódź</p>", "", "Food"),
        item("Volcanic ash grounds flights", "<p>cloud of ash over the volcano</p>", "", "Travel"),
    ];
    keep(&shelf, "https://a.org/feed", "news", items);
    keep(&shelf, "https://b.org/feed", "food", vec![item("Volcano cake", "", "", "Food")]);
    index_all(&shelf.store).await;
    shelf
}

fn person() -> Person {
    let account = store::AccountRow {
        id: store::AccountId::LOCAL,
        name: "somebody".to_owned(),
        password: String::new(),
        created_at: T0,
        role: store::AccountRole::Admin,
    };
    Person::with_account(account, store::TokenScope::Read, None)
}

pub async fn found(shelf: &Fixture, text: &str) -> Vec<i64> {
    let found = find(&shelf.context, &person(), text, None, 100).await;
    let found = found.unwrap_or_else(|error| panic!("{text}: {error}"));
    found.entries.iter().map(|found| found.entry.id.0).collect()
}

#[track_caller]
fn same(text: &str, found: &[i64], expected: &[i64]) {
    assert_eq!(found, expected, "{text}");
}

#[tokio::test]
async fn words_phrases_and_prefixes_of_any_script_are_found_newest_first() {
    let shelf = shelf().await;
    for (text, expected) in [
        ("volcano", &[9, 8, 2, 1][..]),
        ("VOLCANO iceland", &[2, 1]),
        ("\"iceland volcano\"", &[1]),
        ("volcan*", &[9, 8, 2, 1]),
        ("\"ash cloud\"", &[1]),
        ("creme brulee", &[7]),
        ("strasse lodz", &[7]),
        ("火山", &[3]),
        ("山灰", &[3]),
        ("灰山", &[]),
        ("\"火。山\"", &[3]),
        ("вулкана", &[4]),
        ("вулк*", &[4]),
        ("исландии ИЗВЕРЖЕНИЕ", &[4]),
        ("البركان", &[5]),
        ("الامارات اخبار", &[5]),
        ("C++", &[6]),
        ("\"C#\"", &[6]),
        ("o'neill", &[1]),
        ("nothing-like-this", &[]),
    ] {
        same(text, &found(&shelf, text).await, expected);
    }
}

#[tokio::test]
async fn the_operators_of_the_query_language_mean_here_what_they_mean_there() {
    let shelf = shelf().await;
    for (text, expected) in [
        ("volcano OR вулкана", &[9, 8, 4, 2, 1][..]),
        ("volcano NOT cake", &[8, 1]),
        ("volcano -cake", &[8, 1]),
        ("volcano AND (ash OR fruit)", &[8, 2, 1]),
        ("TITLE CONTAINS volcano", &[9, 1]),
        ("NOT TITLE CONTAINS volcano volcano", &[8, 2]),
        ("iceland NEAR/1 volcano", &[1]),
        ("iceland NEAR/4 volcano", &[2, 1]),
        ("AUTHOR CONTAINS jane", &[6, 1]),
        ("AUTHOR = \"jane oneill\"", &[]),
        ("AUTHOR = \"JANE O'NEILL\"", &[1]),
        ("CATEGORY = food volcano", &[9, 2]),
        ("FEED TAGGED food", &[9]),
        ("volcano FEED TAGGED news", &[8, 2, 1]),
        ("TITLE MATCHES /^V.*h/ ash", &[8]),
        ("LINK CONTAINS x", &[]),
        ("volcano PUBLISHED >= 2023-11-14", &[9, 1]),
        ("volcano PUBLISHED < 2023-11-14", &[8, 2]),
        ("volcano PUBLISHED WITHIN 2 days", &[9, 2, 1]),
        ("NOT volcano NOT CATEGORY = food", &[6, 5, 4, 3]),
    ] {
        same(text, &found(&shelf, text).await, expected);
    }
}

#[tokio::test]
async fn what_cannot_be_understood_is_answered_in_words() {
    let shelf = shelf().await;
    for (text, said) in [
        ("", "at 1: the search is empty; write a word"),
        ("  – ", "at 5: the search is empty; write a word"),
        ("volcano AND", "at 12: found the end of the search, expected a word, NOT or `(`"),
        ("(volcano", "at 9: found the end of the search, expected `)`, AND or OR"),
        ("\"open", "at 1: the text is not closed; end it with `\"` on the same line"),
        ("v*", "at 1: a prefix needs 2 letters before its `*`; write more of the word"),
        ("vol*cano", "at 1: a `*` is allowed only at the end of a word; use MATCHES"),
        ("PUBLISHED > soon", "at 13: `soon` is not a date; write it as"),
        ("LANGUAGE CONTAINS de", "at 10: found `CONTAINS`, expected `=` or `!=`"),
        ("TITLE MATCHES /(/", "at 15: "),
    ] {
        let error = find(&shelf.context, &person(), text, None, 10).await.err();
        let Some(error @ SearchError::Query(_)) = error else { panic!("{text}: {error:?}") };
        assert!(error.to_string().starts_with(said), "{text}: {error}");
    }
    let long = "a ".repeat(501);
    assert!(find(&shelf.context, &person(), &long, None, 10).await.is_err());
}

#[tokio::test]
async fn pages_go_on_below_the_last_entry_and_end() {
    let shelf = shelf().await;
    let first = find(&shelf.context, &person(), "volcano", None, 3).await.unwrap();
    assert_eq!(first.next, Some(EntryId(2)));
    let rest = find(&shelf.context, &person(), "volcano", first.next, 3).await.unwrap();
    let ids: Vec<i64> = rest.entries.iter().map(|found| found.entry.id.0).collect();
    assert_eq!((ids, rest.next), (vec![1], None));
}

#[tokio::test]
async fn a_search_that_fits_little_stops_and_says_where_to_go_on() {
    let shelf = Fixture::new(true);
    let items = (0..2500).map(|n| item(&format!("number {n}"), "", "", "")).collect();
    keep(&shelf, "https://a.org/feed", "news", items);
    index_all(&shelf.store).await;
    let rare = "number TITLE MATCHES /^number 7$/";
    let first = find(&shelf.context, &person(), rare, None, 10).await.unwrap();
    assert!(first.entries.is_empty());
    assert_eq!(first.next, Some(EntryId(501)));
    let rest = find(&shelf.context, &person(), rare, first.next, 10).await.unwrap();
    assert_eq!((rest.entries.len(), rest.next), (1, None));
}

#[tokio::test]
async fn what_is_edited_is_found_by_its_new_words_and_what_is_removed_not_at_all() {
    let shelf = shelf().await;
    let feed = feed::FeedId(2);
    let generation = shelf.store.poll_input(feed).unwrap().generation;
    let at = T0 + Duration::from_secs(60);
    let mut record = PollRecord::empty(feed, generation, at, Outcome::Seen, at);
    record.document_mut().entries.edited.push(store::EditedEntry {
        key: EntryKey::from_bytes([0; 16]),
        item: item("Glacier cake", "", "", ""),
        content: 1,
        facts: store::EntryFacts::default(),
    });
    shelf.store.record_blocking(record).unwrap();
    index_all(&shelf.store).await;
    same("volcano", &found(&shelf, "volcano").await, &[8, 2, 1]);
    same("glacier", &found(&shelf, "glacier").await, &[9]);
    shelf.store.remove_feed(feed).unwrap();
    same("glacier", &found(&shelf, "glacier").await, &[]);
}

/// Returns pseudo-random numbers in a fixed order.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}

const VOCABULARY: [&str; 10] =
    ["ash", "火山", "вулкан", "C++", "volcano", "cake", "a.b", "Łódź", "volcanic", "🌋"];

/// A search of random operators over few words, so that most hold for some entries.
fn drawn(chance: &mut Chance, depth: usize) -> String {
    let word = |chance: &mut Chance| VOCABULARY[chance.below(VOCABULARY.len())];
    match chance.below(if depth > 2 { 5 } else { 9 }) {
        0 => format!("\"{} {}\"", word(chance), word(chance)),
        1 => format!("TITLE CONTAINS {}", word(chance)),
        2 => format!("({} NEAR/2 {})", word(chance), word(chance)),
        3 => format!("CATEGORY = {}", word(chance)),
        4 => word(chance).to_owned(),
        5 => format!("NOT {}", drawn(chance, depth + 3)),
        6 => format!("({} OR {})", drawn(chance, depth + 1), drawn(chance, depth + 1)),
        7 => format!("({} AND {})", drawn(chance, depth + 1), drawn(chance, depth + 1)),
        _ => format!("({} {})", drawn(chance, depth + 1), drawn(chance, depth + 1)),
    }
}

#[tokio::test]
async fn the_index_never_hides_what_fits() {
    let shelf = Fixture::new(true);
    let mut chance = Chance(7);
    let mut text = |n: usize| -> String {
        let words: Vec<&str> = (0..n).map(|_| VOCABULARY[chance.below(10)]).collect();
        words.join([" ", ", ", "<br>", "。"][chance.below(4)])
    };
    let items = (0..200).map(|_| item(&text(3), &text(6), &text(1), &text(1))).collect();
    keep(&shelf, "https://a.org/feed", "news", items);
    index_all(&shelf.store).await;
    let feed = shelf.store.feed(feed::FeedId(1)).unwrap();
    let all = shelf.store.recent_entries(None, &EntryFilter { feed: None, limit: 500 }).unwrap();
    let mut n_found = 0;
    for _ in 0..300 {
        let text = drawn(&mut chance, 0);
        let mut search = Search::read(&text, Time::MIN).unwrap();
        let fitting = all.iter().filter(|entry| search.fits(&query_entry(entry, &feed)));
        let fitting: Vec<i64> = fitting.map(|entry| entry.id.0).take(100).collect();
        n_found += fitting.len();
        same(&text, &found(&shelf, &text).await, &fitting);
    }
    assert!(n_found > 3000, "{n_found}");
}
