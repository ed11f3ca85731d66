//! Both databases find the same entries in the same order. The test needs PostgreSQL.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use feed::{EntryId, Item, SearchColumn, SearchExpression};
use proptest::prelude::*;
use store::{AccountId, Location, OpenMode, SearchWords, Store, testing};
use tempfile::TempDir;

use crate::sample::{T0, add, fresh, item, seen};

const N_ENTRIES: usize = 30;

/// Words in several scripts, some of them prefixes of others. Some words are not indexed, and
/// some have a meaning in the language of one database.
const WORDS: &[&str] = &[
    "ash",
    "a",
    "vol",
    "volcan",
    "volcano",
    "VOLCANO",
    "lodz",
    "c",
    "+",
    "#",
    "вулкан",
    "вул",
    "вулкана",
    "й",
    "اخبار",
    "الاخبار",
    "بركان",
    "火",
    "山",
    "灰",
    "。",
    "火山",
    "が",
    "한국",
    "한",
    "क्या",
    "🌋",
    "'",
    "\"",
    "\\",
    "o'neill",
    "a\\'b",
    ":",
    "a:b",
    "*",
    "&",
    "!",
    "|",
    "<->",
    "(",
    "NOT",
    "AND",
    "near",
    "title",
    "A",
    "B",
    "1",
    "12",
    "x\0y",
    "\u{a0}",
    "\u{3000}",
    "ı",
    "İ",
    "ß",
];

fn word() -> impl Strategy<Value = String> {
    let known = prop::sample::select(WORDS).prop_map(str::to_owned);
    prop_oneof![9 => known, 1 => "\\PC{1,5}"]
}

fn text(n_max: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(word(), 0..=n_max).prop_map(|words| words.join(" "))
}

fn phrase() -> impl Strategy<Value = SearchExpression> {
    let column =
        prop_oneof![Just(None), Just(Some(SearchColumn::Title)), Just(Some(SearchColumn::Body))];
    let words = prop_oneof![
        3 => prop::collection::vec(word(), 1),
        2 => prop::collection::vec(word(), 2),
        1 => prop::collection::vec(word(), 3),
    ];
    (column, words, any::<bool>()).prop_filter_map("no word", |(column, words, is_prefix)| {
        SearchExpression::phrase(column, words.iter().map(String::as_str), is_prefix)
    })
}

fn expression() -> impl Strategy<Value = SearchExpression> {
    phrase().prop_recursive(3, 12, 3, |inner| {
        let parts = prop::collection::vec(inner, 1..=3);
        prop_oneof![
            parts.clone().prop_map(|parts| SearchExpression::all(parts).unwrap()),
            parts.prop_map(|parts| SearchExpression::any(parts).unwrap()),
        ]
    })
}

struct Pair {
    _folder: TempDir,
    sqlite: Store,
    postgres: Store,
}

/// One store on each database, with the same entries.
static PAIR: LazyLock<Pair> = LazyLock::new(|| {
    let (folder, fresh) = (tempfile::tempdir().unwrap(), fresh());
    let location = Location::Folder(folder.path().to_owned());
    let sqlite = Store::open(location, OpenMode::ReadWrite).unwrap();
    for store in [&sqlite, &fresh.store] {
        let feed = add(store, "https://a.example/");
        let items: Vec<Item> = (0..N_ENTRIES).map(|n| item(&n.to_string(), "")).collect();
        store.record_blocking(seen(store, feed, &items, T0)).unwrap();
    }
    Pair { _folder: folder, sqlite, postgres: fresh.store }
});

fn found(
    store: &Store,
    expression: &SearchExpression,
    below: Option<EntryId>,
    limit: u32,
) -> Vec<i64> {
    let found = store.search(AccountId::LOCAL, expression, below, limit);
    let found = found.unwrap_or_else(|error| panic!("{expression:?}: {error}"));
    found.iter().map(|found| found.entry.id.0).collect()
}

/// Gives all these texts to both stores.
fn index(texts: &[(String, String)]) {
    let words = |(id, (title, body)): (i64, &(String, String))| SearchWords {
        entry: EntryId(id),
        edited_at: None,
        title: title.clone(),
        body: body.clone(),
        article_at: None,
    };
    let words: Vec<SearchWords> = (1..).zip(texts).map(words).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for store in [&PAIR.sqlite, &PAIR.postgres] {
        runtime.block_on(store.index(words.clone())).unwrap();
    }
}

/// The tests take turns, because they share the stores.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Words before a text, so that PostgreSQL keeps none of its places.
#[derive(Clone, Copy, Debug)]
enum Filler {
    None,
    /// More places of one word than PostgreSQL keeps.
    OneWord,
    /// More places than PostgreSQL distinguishes.
    ManyPlaces,
    /// More words than fit into the index at all.
    Huge,
}

impl Filler {
    fn text(self) -> String {
        let distinct = |n: u32| (0..n).map(|n| format!("w{n} ")).collect();
        match self {
            Filler::None => String::new(),
            Filler::OneWord => "volcano ".repeat(300),
            Filler::ManyPlaces => distinct(16_500),
            Filler::Huge => distinct(200_000),
        }
    }
}

fn filler() -> impl Strategy<Value = Filler> {
    prop_oneof![
        12 => Just(Filler::None),
        2 => Just(Filler::OneWord),
        2 => Just(Filler::ManyPlaces),
        1 => Just(Filler::Huge),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// The index of PostgreSQL may find more long entries than those that fit. The caller tests the
    /// texts of what it finds. It must miss none.
    #[test]
    fn random_searches_of_long_texts_miss_nothing(
        texts in prop::collection::vec((text(4), filler(), text(12)), N_ENTRIES),
        searches in prop::collection::vec(expression(), 25),
    ) {
        if !testing::is_postgres() {
            return Ok(());
        }
        let _turn = turn();
        let all: Vec<(String, String)> = texts
            .iter()
            .map(|(title, filler, body)| (title.clone(), filler.text() + body))
            .collect();
        index(&all);
        let filler = |id: i64| texts[usize::try_from(id - 1).unwrap()].1;
        let is_long = |id: &i64| !matches!(filler(*id), Filler::None);
        for expression in searches {
            let expect = found(&PAIR.sqlite, &expression, None, 100);
            let mut given = found(&PAIR.postgres, &expression, None, 100);
            given.retain(|id| !is_long(id) || expect.contains(id));
            prop_assert_eq!(given, expect, "{:?} in {:#?}", expression, texts);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_searches_find_the_same_on_both_databases(
        texts in prop::collection::vec((text(4), text(12)), N_ENTRIES),
        searches in prop::collection::vec((expression(), 1_i64..40, 1_u32..20), 25),
    ) {
        if !testing::is_postgres() {
            return Ok(());
        }
        let _turn = turn();
        index(&texts);
        for (expression, below, limit) in searches {
            for (below, limit) in [(None, 100), (Some(EntryId(below)), limit)] {
                let expect = found(&PAIR.sqlite, &expression, below, limit);
                let given = found(&PAIR.postgres, &expression, below, limit);
                prop_assert_eq!(given, expect, "{:?} in {:#?}", expression, texts);
            }
        }
    }
}
