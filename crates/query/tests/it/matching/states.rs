//! Operators with a state: the entries that pass, the records, and restarts.

use std::collections::BTreeMap;
use std::time::Duration;

use feed::Time;
use query::limits::REMEMBERED_MAX;
use query::{Matcher, MemoryChange, QueryId, Scratch, States};

use crate::sample::{Sample, created, matcher};

/// A query and its stored records.
struct World {
    matcher: Matcher,
    states: States,
    scratch: Scratch,
    stored: BTreeMap<u64, Vec<u8>>,
    next: i64,
}

impl World {
    #[track_caller]
    fn new(query: &str) -> World {
        let matcher = matcher(&format!("CREATE FEED q AS RETURN {query}"));
        let (states, scratch) = (States::default(), Scratch::new());
        World { matcher, states, scratch, stored: BTreeMap::new(), next: 1 }
    }

    /// Matches an entry of feed `feed` at a minute. Returns whether it is kept, and its partner.
    fn see(&mut self, feed: u32, minute: u64, title: &str, link: &str) -> Option<Option<i64>> {
        let mut sample = Sample::titled(title);
        (sample.id, sample.feed) = (self.next, feed);
        self.next += 1;
        sample.tags = vec![format!("f{feed}")];
        sample.link = Some(link.to_owned());
        sample.seen = Time::from_secs(0) + Duration::from_secs(60 * minute);
        let found = self.matcher.matches(&sample.entry(), &mut self.states, &mut self.scratch);
        let kept = found.first().map(|found| found.partner.map(|entry| entry.0));
        for change in self.states.take_changes() {
            match change {
                MemoryChange::Remember { number, bytes, .. } => {
                    assert!(self.stored.insert(number, bytes).is_none(), "numbers are used once");
                }
                MemoryChange::Forget { number, .. } => {
                    assert!(self.stored.remove(&number).is_some(), "only what is stored is taken");
                }
            }
        }
        kept
    }

    fn keeps(&mut self, feed: u32, minute: u64, title: &str, link: &str) -> bool {
        self.see(feed, minute, title, link).is_some()
    }

    /// Loses everything except the stored records.
    fn restart(&mut self) {
        self.states = States::default();
        self.scratch = Scratch::new();
        let records = self.stored.iter().map(|(number, bytes)| (*number, bytes.as_slice()));
        assert!(self.matcher.restore_state(&mut self.states, QueryId(1), records).is_empty());
    }

    fn window(&self, minute: u64) -> Vec<i64> {
        let now = Time::from_secs(0) + Duration::from_secs(60 * minute);
        let window = self.states.window(QueryId(1), now).unwrap_or_default();
        window.into_iter().map(|entry| entry.0).collect()
    }
}

#[test]
fn distinct_on_link_keeps_the_first_of_two_feeds() {
    let mut world = World::new("ALL FEEDS DISTINCT ON LINK WITHIN 2 HOURS");
    assert!(world.keeps(1, 0, "a", "https://e.org/x"));
    assert!(!world.keeps(2, 5, "b", "http://www.e.org/x/?utm_source=rss"));
    assert!(world.keeps(2, 6, "c", "http://e.org/y"));
    world.restart();
    assert!(!world.keeps(3, 119, "d", "https://e.org/x"));
    assert!(world.keeps(3, 120, "e", "https://e.org/x"), "two hours later it is new again");
    assert!(world.keeps(1, 121, "no link is like no other", ""));
    assert!(world.keeps(1, 122, "no link is like no other", ""));
}

#[test]
fn distinct_on_title_knows_a_story_again() {
    let mut world = World::new("ALL FEEDS DISTINCT ON TITLE SIMILAR");
    assert!(world.keeps(1, 0, "Volcano erupts in Iceland", "https://a.org/1"));
    assert!(!world.keeps(2, 1, "VOLCANO ERUPTS IN ICELAND | The Guardian", "https://b.org/1"));
    assert!(world.keeps(2, 2, "Volcano erupts in Hawaii after quake", "https://b.org/2"));
    world.restart();
    assert!(!world.keeps(3, 3, "Iceland: volcano erupts", "https://c.org/1"));
    assert!(world.keeps(3, 7 * 24 * 60 + 1, "Iceland: volcano erupts", "https://c.org/2"));
}

#[test]
fn distinct_within_items_forgets_by_number() {
    let mut world = World::new("ALL FEEDS DISTINCT ON LINK WITHIN LAST 2 ITEMS");
    for (link, expect) in [
        ("a", true),
        ("b", true),
        ("a", false),
        ("c", true),
        ("a", true),
        ("c", false),
        ("b", true),
    ] {
        let link = format!("https://e.org/{link}");
        assert_eq!(world.keeps(1, 0, "t", &link), expect, "{link}");
        assert!(world.stored.len() <= 2);
    }
}

#[test]
fn join_returns_the_later_of_the_two() {
    let mut world = World::new(r#"TAG "f1" JOIN TAG "f2" ON TITLE SIMILAR WITHIN 1 HOUR"#);
    assert_eq!(world.see(1, 0, "Volcano erupts in Iceland", "u1"), None);
    assert_eq!(world.see(2, 10, "Something else happened today", "u2"), None);
    assert_eq!(world.see(2, 20, "Iceland volcano erupts", "u3"), Some(Some(1)));
    world.restart();
    assert_eq!(world.see(1, 30, "Volcano erupts in Iceland again", "u4"), Some(Some(3)));
    assert_eq!(world.see(3, 31, "Volcano erupts in Iceland", "u5"), None, "reads f1 and f2 only");
    assert_eq!(world.see(1, 90, "Volcano erupts in Iceland", "u6"), None, "an hour has passed");
}

#[test]
fn join_on_link_needs_two_feeds() {
    let mut world = World::new("ALL FEEDS JOIN ALL FEEDS ON LINK");
    assert_eq!(world.see(1, 0, "a", "https://e.org/x"), None);
    assert_eq!(
        world.see(1, 1, "b", "https://e.org/x"),
        None,
        "the same feed is not a second source"
    );
    assert_eq!(world.see(2, 2, "c", "https://e.org/x"), Some(Some(2)), "the newest of the other");
    assert_eq!(world.see(2, 3, "c", "no address"), None);
}

#[test]
fn join_lets_only_what_meets_the_condition_in() {
    let mut world = World::new(r#"TAG "f1" JOIN TAG "f2" ON LINK WHERE TITLE CONTAINS "volcano""#);
    assert_eq!(world.see(1, 0, "other", "https://e.org/x"), None);
    assert_eq!(world.see(2, 1, "volcano", "https://e.org/x"), None);
    assert_eq!(world.see(1, 2, "volcano", "https://e.org/x"), Some(Some(2)));
}

#[test]
fn count_waits_until_there_are_enough_at_once() {
    let mut world = World::new("ALL FEEDS COUNT >= 3 WITHIN 1 HOUR");
    assert!(!world.keeps(1, 0, "a", ""));
    assert!(!world.keeps(1, 30, "b", ""));
    assert!(!world.keeps(1, 70, "c", ""), "the first is too old");
    world.restart();
    assert!(world.keeps(1, 80, "d", ""));
    assert!(world.keeps(1, 85, "e", ""));
    assert!(!world.keeps(1, 200, "f", ""), "it cooled down");
    assert_eq!(world.stored.len(), 3, "no more than the last three are needed");
}

#[test]
fn windows_show_what_is_recent() {
    let mut by_time = World::new("ALL FEEDS WINDOW 1 HOUR");
    let mut by_number = World::new("ALL FEEDS WINDOW LAST 2 ITEMS");
    for world in [&mut by_time, &mut by_number] {
        for minute in [0, 30, 50] {
            assert!(world.keeps(1, minute, "a", ""));
        }
        world.restart();
    }
    assert_eq!(by_time.window(59), [1, 2, 3]);
    assert_eq!(by_time.window(60), [2, 3]);
    assert_eq!(by_time.window(200), Vec::<i64>::new());
    assert_eq!(by_number.window(200), [2, 3]);
    assert_eq!(by_number.states.window(QueryId(2), Time::from_secs(0)), None);
}

#[test]
fn operators_work_one_after_the_other() {
    let query = "ALL FEEDS WINDOW LAST 10 ITEMS COUNT >= 2 WITHIN 1 DAY DISTINCT ON LINK";
    let mut world = World::new(query);
    assert!(!world.keeps(1, 0, "a", "https://e.org/1"), "one is not two");
    assert!(!world.keeps(2, 1, "a", "https://e.org/1"), "a duplicate does not count");
    assert!(world.keeps(2, 2, "b", "https://e.org/2"));
    assert_eq!(world.window(3), [3], "the window shows what passed all");
}

#[test]
fn a_query_over_a_query_with_memory_sees_what_passed() {
    let matcher = matcher(
        r#"CREATE FEED all AS RETURN FEED once;
           CREATE FEED once AS RETURN ALL FEEDS DISTINCT ON LINK"#,
    );
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let mut sample = Sample::titled("a");
    sample.link = Some("https://e.org/1".to_owned());
    assert_eq!(matcher.matches(&sample.entry(), &mut states, &mut scratch).len(), 2);
    assert_eq!(matcher.matches(&sample.entry(), &mut states, &mut scratch).len(), 0);
}

#[test]
fn memory_is_bounded_whatever_comes() {
    let mut world = World::new("ALL FEEDS DISTINCT ON LINK WITHIN 52 WEEKS");
    for n in 0..REMEMBERED_MAX + 50 {
        assert!(world.keeps(1, 0, "t", &format!("https://e.org/{n}")));
    }
    assert_eq!(world.stored.len(), REMEMBERED_MAX);
    assert!(world.keeps(1, 0, "t", "https://e.org/49"), "the oldest were forgotten");
    assert!(!world.keeps(1, 0, "t", "https://e.org/60"));
    let bytes: usize = world.stored.values().map(Vec::len).sum();
    assert!(bytes / world.stored.len() < 40, "a link takes 31 bytes");
}

#[test]
fn records_of_others_are_named_and_not_believed() {
    let mut world = World::new("ALL FEEDS DISTINCT ON LINK");
    world.keeps(1, 0, "t", "https://e.org/1");
    let good = world.stored[&1].clone();
    let mut newer = good.clone();
    newer[0] = 99;
    let records = [(1, &good[..]), (2, &newer), (3, b"nonsense"), (7, &good), (2, &good)];
    let strange = world.matcher.restore_state(&mut world.states, QueryId(1), records);
    assert_eq!(strange, [2, 3, 2], "another version, no record, a number that went back");
    assert!(!world.keeps(1, 1, "t", "https://e.org/1"));
    assert!(world.keeps(1, 1, "t", "https://e.org/2"));
    assert!(world.stored.contains_key(&8), "numbers go on behind the last");

    let other = matcher("CREATE FEED q AS RETURN ALL FEEDS DISTINCT ON TITLE SIMILAR");
    let strange = other.restore_state(&mut States::default(), QueryId(1), [(1, &good[..])]);
    assert_eq!(strange, [1], "what another definition remembered is not its own");
    let strange = other.restore_state(&mut States::default(), QueryId(2), [(1, &good[..])]);
    assert_eq!(strange, [1], "a query that is not there has no memory");
}

#[test]
fn a_query_that_is_replaced_forgets_what_it_kept_and_counts_on() {
    let mut world = World::new("ALL FEEDS DISTINCT ON LINK");
    assert!(world.keeps(1, 0, "a", "https://e.org/1"));
    assert!(world.keeps(1, 0, "a", "https://e.org/2"));
    let with = |query: &str| created(&format!("CREATE FEED q AS RETURN {query}")).query;
    let same = with("ALL FEEDS WHERE ITEM CONTAINS \"a\" DISTINCT ON LINK");
    world.matcher.insert(QueryId(1), "q", &same);
    assert!(!world.keeps(1, 1, "a", "https://e.org/1"), "the same operators remember the same");
    let other = with("ALL FEEDS DISTINCT ON LINK WITHIN 1 HOUR WINDOW 1 DAY");
    world.matcher.insert(QueryId(1), "q", &other);
    assert!(world.keeps(1, 2, "a", "https://e.org/1"));
    assert_eq!(world.stored.keys().copied().collect::<Vec<_>>(), [3, 4]);
}
