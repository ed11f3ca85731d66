//! Sources of entries: addresses, tags, all feeds, other queries.

use query::{QueryId, Scratch, States};

use crate::sample::{keeps, matcher, samples};

#[track_caller]
fn check(sources: &str, expect: &str) {
    let samples = samples();
    let kept = samples.iter().filter(|sample| keeps(sources, sample)).map(|sample| sample.name);
    assert_eq!(kept.collect::<Vec<_>>().join(" "), expect, "{sources}");
}

#[test]
fn sources_are_joined() {
    check("ALL FEEDS", "volcano recipe release");
    check(r#""http://feeds.example.org/world/rss""#, "volcano");
    check(r#""HTTP://feeds.EXAMPLE.org:80/world/rss#x""#, "volcano");
    check(r#""https://feeds.example.org/world/rss""#, "");
    check(r#"TAG "food""#, "recipe");
    check(r#"TAG "food" | TAG "world""#, "volcano recipe");
    check(r#"TAG "food" | "https://code.example.com/atom""#, "recipe release");
    check(r#"TAG "food" | ALL FEEDS"#, "volcano recipe release");
    check(r#"TAG "news" WHERE ITEM CONTAINS "sugar""#, "");
}

/// Returns the queries of a file that keep the volcano entry, in order.
#[track_caller]
fn check_order(file: &str, expect: &[u32]) {
    let matcher = matcher(file);
    let sample = &samples()[0];
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let matches = matcher.matches(&sample.entry(), &mut states, &mut scratch);
    let numbers: Vec<u32> = matches.iter().map(|found| found.query.0).collect();
    assert_eq!(numbers, expect, "{file}");
}

#[test]
fn queries_read_queries_in_any_order_of_writing() {
    let file = r#"
        CREATE FEED last AS RETURN FEED middle | FEED other WHERE TITLE CONTAINS "iceland";
        CREATE FEED middle AS RETURN FEED first;
        CREATE FEED first AS RETURN ALL FEEDS WHERE ITEM CONTAINS "ash";
        CREATE FEED other AS RETURN ALL FEEDS WHERE ITEM CONTAINS "sugar";"#;
    check_order(file, &[3, 2, 1]);
}

#[test]
fn a_query_sees_only_what_the_query_it_reads_keeps() {
    let file = r#"
        CREATE FEED none AS RETURN ALL FEEDS WHERE ITEM CONTAINS "sugar";
        CREATE FEED a AS RETURN FEED none WHERE ITEM CONTAINS "iceland";
        CREATE FEED b AS RETURN FEED none | TAG "news" WHERE ITEM CONTAINS "iceland";"#;
    check_order(file, &[3]);
}

#[test]
fn a_query_that_goes_leaves_its_readers_without() {
    let mut matcher = matcher(
        r#"CREATE FEED a AS RETURN ALL FEEDS;
           CREATE FEED b AS RETURN FEED a;
           CREATE FEED c AS RETURN FEED b"#,
    );
    let sample = &samples()[0];
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let mut count = |matcher: &query::Matcher| {
        matcher.matches(&sample.entry(), &mut states, &mut scratch).len()
    };
    assert_eq!(count(&matcher), 3);
    assert!(matcher.remove(QueryId(2)));
    assert!(!matcher.remove(QueryId(2)));
    assert_eq!(count(&matcher), 1);
    let again =
        crate::sample::created("CREATE FEED b AS RETURN FEED a WHERE TITLE CONTAINS \"iceland\"");
    matcher.insert(QueryId(9), "b", &again.query);
    assert_eq!(count(&matcher), 3);
}

#[test]
fn a_feed_is_read_when_somebody_reads_it() {
    let mut matcher =
        matcher(r#"CREATE FEED a AS RETURN TAG "x" | "https://e.org/f" WHERE FEED TAGGED "y""#);
    let tags = |tag: &str| [tag.to_owned()];
    assert!(matcher.reads("https://e.org/f", &[]));
    assert!(matcher.reads("https://other.org/", &tags("x")));
    assert!(!matcher.reads("https://other.org/", &tags("y")));
    let all = crate::sample::created("CREATE FEED all AS RETURN ALL FEEDS");
    matcher.insert(QueryId(2), "all", &all.query);
    assert!(matcher.reads("https://other.org/", &[]));
    matcher.remove(QueryId(2));
    matcher.remove(QueryId(1));
    assert!(!matcher.reads("https://e.org/f", &tags("x")));
}
