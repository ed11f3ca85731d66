//! Many queries at once keep the same entries as each alone, and as a naive reading of the manual.
//! The conditions are random and use few words, so that everything meets. Queries come and go.

use std::collections::BTreeSet;

use feed::{EntryId, FeedId, Time};
use proptest::prelude::*;
use query::{
    Condition, Entry, Field, Match, Matcher, Phrase, PhraseWord, QueryId, Scratch, States, Test,
};

use crate::sample::created;

const WORDS: [&str; 8] = ["ash", "cloud", "ice", "iceland", "火", "山", "volcano", "été"];

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(&WORDS[..]);
    prop_oneof![
        4 => word.clone().prop_map(|w| format!("\"{w}\"")),
        2 => (word.clone(), word.clone()).prop_map(|(a, b)| format!("\"{a} {b}\"")),
        1 => Just("\"ic*\"".to_owned()),
        1 => Just("\"火山\"".to_owned()),
        1 => (word.clone(), 1..4, word).prop_map(|(a, n, b)| format!("\"{a}\" NEAR/{n} \"{b}\"")),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    let field = prop::sample::select(&["ITEM", "TITLE", "CONTENT"][..]);
    let leaf = prop_oneof![
        6 => (field, text()).prop_map(|(field, text)| format!("{field} CONTAINS {text}")),
        1 => Just("TITLE MATCHES /clo|vol/".to_owned()),
        1 => Just("FEED TAGGED \"news\"".to_owned()),
        1 => Just("PUBLISHED >= \"1970-01-02\"".to_owned()),
        1 => Just("LANGUAGE = \"de\"".to_owned()),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|p| format!("({})", p.join(" AND "))),
            prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|p| format!("({})", p.join(" OR "))),
            inner.prop_map(|p| format!("NOT {p}")),
        ]
    })
}

fn statements() -> impl Strategy<Value = Vec<String>> {
    let one = (condition(), prop::option::of(0_usize..6));
    prop::collection::vec(one, 1..12).prop_map(|all| {
        let one = |(n, (condition, read)): (usize, (String, Option<usize>))| {
            // A query reads an earlier one, or all feeds.
            let source = match read.filter(|read| *read < n) {
                Some(read) => format!("FEED q{read}"),
                None => "ALL FEEDS".to_owned(),
            };
            format!("CREATE FEED q{n} AS RETURN {source} WHERE {condition}")
        };
        all.into_iter().enumerate().map(one).collect()
    })
}

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..7).prop_map(|words| words.join(" "))
}

/// An entry for the naive evaluation: its words in order, and its other values.
struct Plain<'a> {
    title: Vec<&'a str>,
    content: Vec<&'a str>,
    is_news: bool,
    is_german: bool,
    is_late: bool,
}

impl Plain<'_> {
    /// Evaluates a condition by the rules of the manual. Uses nothing of the library but the
    /// parser.
    fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| self.holds(part)),
            Condition::Any(parts) => parts.iter().any(|part| self.holds(part)),
            Condition::Not(inner) => !self.holds(inner),
            Condition::Test(Test::Contains { field, phrase }) => {
                self.texts(*field).iter().any(|text| !starts(text, phrase).is_empty())
            }
            Condition::Test(Test::Near { field, first, second, words }) => {
                let (a, b) = (first.words().len(), second.words().len());
                self.texts(*field).iter().any(|text| {
                    let others = starts(text, second);
                    starts(text, first).into_iter().any(|i| {
                        others.iter().any(|&j| {
                            let gap = if j >= i {
                                j as i64 - (i + a - 1) as i64
                            } else {
                                i as i64 - (j + b - 1) as i64
                            };
                            (i, a) != (j, b) && gap <= i64::from(*words)
                        })
                    })
                })
            }
            Condition::Test(Test::Matches { .. }) => {
                self.title.iter().any(|word| word.contains("clo") || word.contains("vol"))
            }
            Condition::Test(Test::Tagged(_)) => self.is_news,
            Condition::Test(Test::Equals { .. }) => self.is_german,
            Condition::Test(_) => self.is_late,
        }
    }

    fn texts(&self, field: Field) -> Vec<&[&str]> {
        match field {
            Field::Title => vec![&self.title],
            Field::Content => vec![&self.content],
            _ => vec![&self.title, &self.content],
        }
    }
}

/// Returns the starts of a phrase.
fn starts(text: &[&str], phrase: &Phrase) -> Vec<usize> {
    let fits = |word: &str, wanted: &PhraseWord| {
        let word = word.replace('é', "e");
        if wanted.prefix { word.starts_with(&wanted.letters) } else { word == wanted.letters }
    };
    let n = phrase.words().len();
    let all = |window: &[&str]| window.iter().zip(phrase.words()).all(|(w, p)| fits(w, p));
    (0..text.len()).filter(|at| text.get(*at..at + n).is_some_and(all)).collect()
}

/// Returns the queries that keep an entry by the naive evaluation. Queries come after those they
/// read.
fn kept(statements: &[String], plain: &Plain<'_>) -> BTreeSet<u32> {
    let mut kept = BTreeSet::new();
    for (n, statement) in statements.iter().enumerate() {
        let query = created(statement).query;
        let reads = query.reads();
        let is_read = reads.is_empty()
            || reads.iter().any(|name| kept.contains(&name.text[1..].parse().unwrap()));
        if is_read && query.condition.as_ref().is_none_or(|c| plain.holds(c)) {
            kept.insert(n as u32);
        }
    }
    kept
}

fn numbers(found: &[Match]) -> BTreeSet<u32> {
    found.iter().map(|found| found.query.0).collect()
}

/// Returns the same query without an anchor.
fn unindexed(statement: &str) -> query::Query {
    let mut query = created(statement).query;
    let twice_not = |c: Condition| Condition::Not(Box::new(Condition::Not(Box::new(c))));
    query.condition = query.condition.map(twice_not);
    query
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn together_as_alone(
        statements in statements(),
        entries in prop::collection::vec((words(), words()), 1..12),
        gone in 0_usize..12,
    ) {
        let mut together = Matcher::new();
        let mut alone = Matcher::new();
        for (n, statement) in statements.iter().enumerate() {
            let name = format!("q{n}");
            together.insert(QueryId(n as u32), &name, &created(statement).query);
            alone.insert(QueryId(n as u32), &name, &unindexed(statement));
        }
        let tags = ["news".to_owned()];
        let mut rooms = (States::default(), Scratch::new(), States::default(), Scratch::new());
        for (n, (title, content)) in entries.iter().enumerate() {
            let seen = Time::from_secs(200_000);
            let mut entry = Entry::bare(EntryId(n as i64), FeedId(1), "https://e.org/", seen);
            (entry.title, entry.content) = (Some(title.as_str()), Some(content.as_str()));
            entry.published = Some(Time::from_secs(50_000 * n as i64));
            entry.tags = &tags[n % 2..];
            entry.language = Some("de-AT").filter(|_| n % 3 == 0);
            let expect = alone.matches(&entry, &mut rooms.2, &mut rooms.3).to_vec();
            let found = together.matches(&entry, &mut rooms.0, &mut rooms.1);
            prop_assert_eq!(found, &expect[..], "{:#?} {} / {}", statements, title, content);
            let plain = Plain {
                title: title.split(' ').collect(),
                content: content.split(' ').collect(),
                is_news: n % 2 == 0,
                is_german: n % 3 == 0,
                is_late: n >= 2,
            };
            prop_assert_eq!(&numbers(found), &kept(&statements, &plain));
            together.learn(&mut rooms.1, 3);
            // Removing a query and adding it again must not change anything else.
            if let Some(statement) = statements.get(gone) {
                together.remove(QueryId(gone as u32));
                together.matches(&entry, &mut rooms.0, &mut rooms.1);
                let again = created(statement).query;
                together.insert(QueryId(gone as u32), &format!("q{gone}"), &again);
            }
        }
        for n in 0..statements.len() {
            prop_assert!(together.remove(QueryId(n as u32)));
        }
        let mut entry = Entry::bare(EntryId(1), FeedId(1), "https://e.org/", Time::from_secs(1));
        entry.title = Some("ash cloud ice iceland 火山 volcano");
        prop_assert!(together.matches(&entry, &mut rooms.0, &mut rooms.1).is_empty());
    }
}

#[test]
fn a_thousand_queries_are_found_by_their_own_words() {
    let mut matcher = Matcher::new();
    for n in 0..1000_u32 {
        let statement = format!(
            "CREATE FEED q{n} AS RETURN ALL FEEDS WHERE ITEM CONTAINS \"word{n}\" AND \"x{}\"",
            n % 7
        );
        matcher.insert(QueryId(n), &format!("q{n}"), &created(&statement).query);
    }
    assert_eq!(matcher.len(), 1000);
    let mut entry = Entry::bare(EntryId(1), FeedId(1), "https://e.org/", Time::from_secs(1));
    entry.title = Some("word14 word15 word999 x0 x5");
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let found = matcher.matches(&entry, &mut states, &mut scratch);
    let numbers: Vec<u32> = found.iter().map(|found| found.query.0).collect();
    assert_eq!(numbers, [14, 999]);
}

#[test]
fn hostile_entries_are_bounded() {
    let statement = "CREATE FEED q AS RETURN ALL FEEDS WHERE CONTENT CONTAINS \"a b\" NEAR \"end\"";
    let mut matcher = Matcher::new();
    matcher.insert(QueryId(1), "q", &created(statement).query);
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let mut keeps = |content: &str| {
        let mut entry = Entry::bare(EntryId(1), FeedId(1), "https://e.org/", Time::from_secs(1));
        entry.content = Some(content);
        !matcher.matches(&entry, &mut states, &mut scratch).is_empty()
    };
    assert!(keeps(&format!("{} end", "a b ".repeat(40_000))));
    assert!(!keeps(&format!("{} end", "a b ".repeat(400_000))), "beyond what is looked at");
    assert!(!keeps(&"<a b=\"".repeat(100_000)));
    assert!(!keeps(&"é".repeat(1_000_000)));
}
