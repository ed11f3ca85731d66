//! Query plans as text.

use query::{QueryId, Scratch, States};

use crate::sample::{matcher, samples};

#[track_caller]
fn check(query: &str, expect: &str) {
    let matcher = matcher(&format!("CREATE FEED q AS RETURN {query}"));
    assert_eq!(matcher.explain(QueryId(1)).unwrap(), format!("q\n{expect}\n"));
}

#[test]
fn a_plan_says_how_a_query_is_found_and_what_is_checked() {
    check(
        r#"ALL FEEDS WHERE ITEM CONTAINS "Iceland" AND "volcanologist""#,
        "  found by  \"volcanologist\"\n  \
           checks    (\"iceland\" in item and \"volcanologist\" in item)",
    );
    check(
        r#"ALL FEEDS WHERE TITLE MATCHES /x+/i"#,
        "  found by  every entry: the condition needs no word\n  checks    /x+/i in title",
    );
    check(
        r#"ALL FEEDS WHERE TITLE CONTAINS "ash cl*" OR "a" NEAR/3 "bee""#,
        "  found by  \"ash\", \"bee\"\n  \
           checks    (\"ash cl*\" in title or \"a\" within 3 words of \"bee\" in title)",
    );
    check(
        r#"ALL FEEDS WHERE NOT PUBLISHED = "2010" AND LANGUAGE = "de""#,
        "  found by  LANGUAGE = \"de\"\n  checks    \
         (not published from 2010-01-01T00:00:00Z to 2011-01-01T00:00:00Z and LANGUAGE = \"de\")",
    );
}

#[test]
fn addresses_are_shown_without_their_secrets() {
    let matcher = matcher(r#"CREATE FEED q AS RETURN "https://ann:pass@e.org/f?token=abc""#);
    let plan = matcher.explain(QueryId(1)).unwrap();
    assert!(plan.contains("e.org/f"), "{plan}");
    assert!(!plan.contains("pass") && !plan.contains("abc"), "{plan}");
}

#[test]
fn a_plan_names_operators_readers_and_sharing() {
    let matcher = matcher(
        r#"CREATE FEED a AS RETURN ALL FEEDS WHERE ITEM CONTAINS "x";
           CREATE FEED b AS RETURN ALL FEEDS WHERE ITEM CONTAINS "x";
           CREATE FEED c AS RETURN FEED a JOIN TAG "t" ON LINK DISTINCT ON TITLE SIMILAR
               COUNT > 4 WITHIN 1 HOUR WINDOW LAST 20 ITEMS"#,
    );
    let plan = |id| matcher.explain(QueryId(id)).unwrap();
    assert!(plan(1).contains("  read by   1 other queries\n"), "{}", plan(1));
    assert!(plan(1).contains("  shared    the whole condition, with 1 others\n"), "{}", plan(1));
    for line in [
        "  then      joins both sides on LINK within LAST 20 ITEMS\n",
        "  then      keeps the first on TITLE SIMILAR within LAST 20 ITEMS\n",
        "  then      waits until there are 5 within 1 HOUR\n",
        "  then      shows LAST 20 ITEMS\n",
        "  after     a\n",
    ] {
        assert!(plan(3).contains(line), "{}", plan(3));
    }
    assert_eq!(matcher.explain(QueryId(4)), None);
}

#[test]
fn what_occurs_often_finds_less() {
    let mut matcher = matcher(
        r#"CREATE FEED q AS RETURN ALL FEEDS WHERE ITEM CONTAINS "fjallajokullssveit" AND "ash""#,
    );
    let mut sample = samples()[0].clone();
    sample.content = Some("fjallajokullssveit".to_owned());
    sample.summary = None;
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let before = matcher.explain(QueryId(1)).unwrap();
    assert!(before.contains("found by  \"fjallajokullssveit\""), "{before}");
    for _ in 0..16 {
        matcher.matches(&sample.entry(), &mut states, &mut scratch);
    }
    matcher.learn(&mut scratch, 10);
    let after = matcher.explain(QueryId(1)).unwrap();
    assert!(after.contains("found by  \"ash\" (in 0.00 % of entries)"), "{after}");
    sample.summary = Some("Ash!".to_owned());
    assert_eq!(matcher.matches(&sample.entry(), &mut states, &mut scratch).len(), 1);
}
