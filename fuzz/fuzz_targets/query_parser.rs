//! Statements made of the words of the language. They reach parts of the parser that random text
//! never reaches. The same must hold as for any text, and every query must have a plan and take an
//! entry.
#![no_main]

use feed::{EntryId, FeedId, Time};
use libfuzzer_sys::fuzz_target;
use query::{Entry, Matcher, QueryId, Scratch, Statement, States};

const WORDS: [&str; 64] = [
    "CREATE",
    "OR",
    "REPLACE",
    "FEED",
    "a",
    "AS",
    "RETURN",
    "\"https://e.org/f\"",
    "|",
    "JOIN",
    "ON",
    "LINK",
    "TITLE",
    "SIMILAR",
    "WITHIN",
    "1",
    "HOUR",
    "2",
    "DAYS",
    "LAST",
    "ITEMS",
    "WHERE",
    "ITEM",
    "CONTAINS",
    "\"volcano\"",
    "AND",
    "NOT",
    "(",
    ")",
    "\"ash cloud\"",
    "NEAR",
    "/",
    "5",
    "MATCHES",
    "MATCHES /a+b/i",
    "SUMMARY",
    "CONTENT",
    "AUTHOR",
    "CATEGORY",
    "LANGUAGE",
    "=",
    "!=",
    "\"de\"",
    "PUBLISHED",
    ">=",
    "<",
    "\"2011-07-16\"",
    "TAGGED",
    "DISTINCT",
    "COUNT",
    "WINDOW",
    "TITLED",
    "PUBLISH",
    "BY",
    "SECRET",
    "DELIVER TO",
    "WEBHOOK",
    "FILE",
    "EMAIL \"a@b.c\"",
    "EVERY DAY",
    "ALL FEEDS",
    "TAG",
    "\"火山 erup*\"",
    ";",
];

fuzz_target!(|bytes: &[u8]| {
    let mut text = String::from("CREATE FEED x AS RETURN ALL FEEDS ");
    for byte in bytes.iter().take(200) {
        text.push_str(WORDS[usize::from(byte % 64)]);
        // A byte may also break a line, and words may touch.
        text.push_str(if *byte > 191 { "\n" } else { " " });
    }
    let statements = match query::parse(&text) {
        Ok(statements) => statements,
        Err(faults) => return assert!(faults.iter().all(|f| !f.message.is_empty())),
    };
    let mut matcher = Matcher::new();
    for (n, statement) in statements.iter().enumerate() {
        let again = query::parse(&statement.to_string()).unwrap();
        assert_eq!(statement.to_string(), again[0].to_string());
        if let Statement::Create(create) = statement {
            matcher.insert(QueryId(n as u32), &format!("q{n}"), &create.query);
            assert!(
                matcher.explain(QueryId(n as u32)).is_some_and(|plan| plan.contains("found by"))
            );
        }
    }
    let mut entry = Entry::bare(EntryId(1), FeedId(1), "https://e.org/f", Time::from_secs(1));
    entry.title = Some("Volcano: ash cloud, 火山 eruption");
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    matcher.matches(&entry, &mut states, &mut scratch);
    for n in 0..statements.len() {
        matcher.remove(QueryId(n as u32));
    }
    assert!(matcher.is_empty());
    assert!(matcher.matches(&entry, &mut states, &mut scratch).is_empty());
});
