//! Joins with a condition for each side: what they keep, their plan, and a comparison with a
//! naive evaluation.

use std::time::Duration;

use feed::Time;
use proptest::prelude::*;
use query::{Matcher, QueryId, Scratch, States};

use crate::sample::{Sample, matcher};

/// An entry of a test: its feed, the words of its title, and its link.
type Seen = (u32, &'static str, &'static str);

/// Returns for each entry the partner with which the query keeps it.
fn partners(query: &str, entries: &[Seen]) -> Vec<Option<i64>> {
    let matcher = matcher(&format!("CREATE FEED q AS RETURN {query}"));
    partners_of(&matcher, entries)
}

fn partners_of(matcher: &Matcher, entries: &[Seen]) -> Vec<Option<i64>> {
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let mut kept = Vec::new();
    for (n, (feed, title, link)) in entries.iter().enumerate() {
        let mut sample = Sample::titled(title);
        (sample.id, sample.feed) = (n as i64 + 1, *feed);
        sample.tags = vec![format!("f{feed}")];
        sample.link = Some(format!("https://e.org/{link}"));
        sample.seen = Time::from_secs(0) + Duration::from_secs(60 * n as u64);
        let found = matcher.matches(&sample.entry(), &mut states, &mut scratch);
        kept.push(found.first().and_then(|found| found.partner).map(|partner| partner.0));
    }
    kept
}

#[test]
fn each_side_has_its_own_condition() {
    let query = r#"TAG "f1" WHERE TITLE CONTAINS "rumour"
                   JOIN TAG "f2" WHERE TITLE CONTAINS "confirmed" OR "denied" ON LINK"#;
    let entries = [
        (1, "rumour of ash", "x"),
        (2, "rumour of ash", "x"),
        (2, "ash confirmed", "x"),
        (1, "ash confirmed", "x"),
        (2, "ash denied", "y"),
        (1, "a rumour", "y"),
        (3, "a rumour denied", "y"),
    ];
    let kept = partners(query, &entries);
    assert_eq!(kept, [None, None, Some(1), None, None, Some(5), None]);
}

#[test]
fn one_side_alone_may_have_a_condition() {
    let entries = [(1, "a", "x"), (2, "b", "x"), (1, "b", "x"), (2, "a", "x")];
    let left = r#"TAG "f1" WHERE TITLE CONTAINS "b" JOIN TAG "f2" ON LINK"#;
    assert_eq!(partners(left, &entries), [None, None, Some(2), Some(3)]);
    let right = r#"TAG "f1" JOIN TAG "f2" WHERE TITLE CONTAINS "a" ON LINK"#;
    assert_eq!(partners(right, &entries), [None, None, None, Some(3)]);
    let open = r#"ALL FEEDS JOIN ALL FEEDS WHERE TITLE CONTAINS "a" ON LINK"#;
    assert_eq!(partners(open, &entries), [None, Some(1), None, Some(3)]);
}

#[test]
fn a_condition_after_the_join_binds_both_sides_as_before() {
    let query = r#"TAG "f1" WHERE TITLE CONTAINS "a" JOIN TAG "f2" WHERE TITLE CONTAINS "b" ON LINK
                   WHERE TITLE NOT CONTAINS "quiz""#;
    let entries = [(1, "a", "x"), (2, "b quiz", "x"), (2, "b", "x"), (1, "a quiz", "x")];
    assert_eq!(partners(query, &entries), [None, None, Some(1), None]);
}

#[test]
fn a_query_does_not_remember_an_entry_that_it_must_not_keep() {
    let matcher = matcher(
        "CREATE FEED open AS RETURN ALL FEEDS;
         CREATE FEED joined AS RETURN FEED open JOIN FEED open ON LINK",
    );
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let mut kept = |states: &mut States, id: i64, allowed: &[u32]| {
        let mut sample = Sample::titled("a");
        (sample.id, sample.feed) = (id, id as u32);
        sample.link = Some("https://e.org/x".to_owned());
        let may_keep = |query: QueryId| allowed.contains(&query.0);
        let found = matcher.matches_among(&sample.entry(), &[], &may_keep, states, &mut scratch);
        found.iter().map(|one| (one.query.0, one.partner.map(|id| id.0))).collect::<Vec<_>>()
    };
    assert_eq!(kept(&mut states, 1, &[2]), [], "the reader gets nothing either");
    assert_eq!(kept(&mut states, 2, &[1]), [(1, None)]);
    assert_eq!(kept(&mut states, 3, &[1, 2]), [(1, None)], "nothing to join with");
    assert_eq!(kept(&mut states, 4, &[1, 2]), [(1, None), (2, Some(3))]);
    states.leave_out(QueryId(2), |feed| feed.0 >= 3);
    assert_eq!(kept(&mut states, 5, &[1, 2]), [(1, None)]);
}

#[test]
fn the_plan_shows_the_sides_and_finds_them_by_their_words() {
    let matcher = matcher(
        r#"CREATE FEED q AS RETURN ALL FEEDS WHERE TITLE CONTAINS "rumour"
           JOIN ALL FEEDS WHERE TITLE CONTAINS "confirmed" ON LINK"#,
    );
    let plan = matcher.explain(QueryId(1)).unwrap();
    assert!(plan.contains("found by  \"rumour\", \"confirmed\"\n"), "{plan}");
    assert!(plan.contains("(\"rumour\" in title or \"confirmed\" in title)"), "{plan}");
}

/// One entry of the random streams: its feed, its title and its link.
fn seen() -> impl Strategy<Value = Seen> {
    let title = prop::sample::select(vec!["a", "b", "a b", "c", "a c", "b c"]);
    (1_u32..4, title, prop::sample::select(vec!["x", "y"]))
}

/// The newest earlier entry of another feed on the other side with the same link.
fn naive(entries: &[Seen], at: usize, sides: [fn(&Seen) -> bool; 2]) -> Option<i64> {
    let entry = &entries[at];
    let partner = |here: fn(&Seen) -> bool, there: fn(&Seen) -> bool| {
        let fits = |other: &Seen| there(other) && other.2 == entry.2 && other.0 != entry.0;
        here(entry).then(|| entries[..at].iter().rposition(fits)).flatten()
    };
    let [left, right] = sides;
    partner(left, right).max(partner(right, left)).map(|n| n as i64 + 1)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_join_agrees_with_a_naive_evaluation(entries in prop::collection::vec(seen(), 0..30)) {
        let query = r#"TAG "f1" | TAG "f2" WHERE TITLE CONTAINS "a" JOIN
            TAG "f2" | TAG "f3" WHERE TITLE CONTAINS "b" OR "c" ON LINK"#;
        let left: fn(&Seen) -> bool = |e| e.0 <= 2 && e.1.contains('a');
        let right: fn(&Seen) -> bool = |e| e.0 >= 2 && (e.1.contains('b') || e.1.contains('c'));
        let expect: Vec<_> =
            (0..entries.len()).map(|at| naive(&entries, at, [left, right])).collect();
        prop_assert_eq!(partners(query, &entries), expect);
    }
}
