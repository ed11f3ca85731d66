//! Retention: the entries that it deletes, and the keys that it never deletes.

use std::collections::HashMap;
use std::time::Duration;

use feed::{EntryId, FeedId};
use store::{EntryFilter, FeedRetention, KEYS_AGE_MIN, QueryId, Retention, RetentionResult, Store};

use crate::sample::{add, at, fresh, guids, item, poll, seen};

const DAY: i64 = 86_400;

fn days(n: u64) -> Duration {
    Duration::from_secs(n * 86_400)
}

/// A feed that showed one entry a day, one at a time: `e0` to `e<n-1>`.
fn daily(store: &Store, url: &str, n: i64) -> FeedId {
    let id = add(store, url);
    for day in 0..n {
        poll(store, id, &[&format!("e{day}")], at(day * DAY));
    }
    id
}

#[test]
fn by_default_nothing_is_forgotten() {
    let f = fresh();
    daily(&f.store, "https://example.org/a", 5);
    let now = at(100_000 * DAY);
    assert_eq!(f.store.retain(&Retention::off(), now).unwrap(), RetentionResult::default());
    assert_eq!(guids(&f.store).len(), 5);
}

#[test]
fn ages_count_from_the_time_an_entry_was_seen() {
    let f = fresh();
    let id = daily(&f.store, "https://example.org/a", 10);
    let rule = Retention { entries_age_max: Some(days(3)), ..Retention::off() };
    let retained = f.store.retain(&rule, at(9 * DAY)).unwrap();
    assert_eq!(retained, RetentionResult { entries: 6, keys: 0 });
    assert_eq!(guids(&f.store), ["e6", "e7", "e8", "e9"]);
    assert_eq!(f.store.feed(id).unwrap().entries, 4);
    assert_eq!(f.store.last_entry_id().unwrap(), EntryId(10));
    assert_eq!(f.store.check().unwrap(), []);
}

#[test]
fn a_feed_may_have_a_rule_of_its_own() {
    let f = fresh();
    let one = daily(&f.store, "https://example.org/a", 6);
    let two = daily(&f.store, "https://example.org/b", 6);
    let own = FeedRetention { entries_age_max: None, entries_max: Some(5) };
    let rule = Retention {
        entries_per_feed_max: Some(2),
        per_feed: HashMap::from([(two, own)]),
        ..Retention::off()
    };
    assert_eq!(f.store.retain(&rule, at(6 * DAY)).unwrap().entries, 5);
    assert_eq!(f.store.feed(one).unwrap().entries, 2);
    assert_eq!(f.store.feed(two).unwrap().entries, 5);
}

#[test]
fn over_all_the_oldest_positions_go_first() {
    let f = fresh();
    let one = daily(&f.store, "https://example.org/a", 4);
    let two = daily(&f.store, "https://example.org/b", 4);
    let rule = Retention { entries_max: Some(3), ..Retention::off() };
    assert_eq!(f.store.retain(&rule, at(DAY)).unwrap().entries, 5);
    assert_eq!(f.store.feed(one).unwrap().entries, 0);
    assert_eq!(f.store.feed(two).unwrap().entries, 3);
    assert_eq!(f.store.retain(&rule, at(DAY)).unwrap(), RetentionResult::default());
}

#[test]
fn more_than_one_step_is_forgotten_at_once() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let many: Vec<_> = (0..1200).map(|n| item(&format!("e{n}"), "t")).collect();
    let record = seen(&f.store, id, &many, at(0));
    f.store.record_blocking(record).unwrap();
    let rule = Retention { entries_per_feed_max: Some(1), ..Retention::off() };
    assert_eq!(f.store.retain(&rule, at(1)).unwrap().entries, 1199);
    let kept = f.store.entries(EntryId(0), &EntryFilter { feed: Some(id), limit: 9 }).unwrap();
    assert_eq!(kept.len(), 1);
}

/// Starred old entries stay. They must not cause the deletion of new, unread ones.
#[test]
fn the_newest_are_kept_however_many_are_held() {
    for rule in [
        Retention { entries_per_feed_max: Some(3), ..Retention::off() },
        Retention { entries_max: Some(3), ..Retention::off() },
    ] {
        let f = fresh();
        daily(&f.store, "https://example.org/a", 8);
        let starred: Vec<EntryId> = (1..=4).map(EntryId).collect();
        f.store.star(store::AccountId::LOCAL, &starred, true, at(8 * DAY)).unwrap();
        assert_eq!(f.store.retain(&rule, at(8 * DAY)).unwrap().entries, 1, "{rule:?}");
        assert_eq!(guids(&f.store), ["e0", "e1", "e2", "e3", "e5", "e6", "e7"], "{rule:?}");
        assert_eq!(f.store.retain(&rule, at(8 * DAY)).unwrap().entries, 0, "{rule:?}");
        assert_eq!(f.store.check().unwrap(), []);
    }
}

#[test]
fn an_entry_whose_text_was_forgotten_is_still_known() {
    let f = fresh();
    let id = daily(&f.store, "https://example.org/a", 3);
    let rule = Retention {
        entries_per_feed_max: Some(0),
        keys_age_max: Some(Duration::ZERO),
        ..Retention::off()
    };
    assert_eq!(
        f.store.retain(&rule, at(300 * DAY)).unwrap(),
        RetentionResult { entries: 3, keys: 0 }
    );
    assert_eq!(poll(&f.store, id, &["e0", "e1", "e2"], at(300 * DAY)), [0_i64; 0]);
    let edited = seen(&f.store, id, &[item("e0", "now different")], at(301 * DAY));
    assert_eq!(edited.document().unwrap().entries.edited.len(), 1);
    f.store.record_blocking(edited).unwrap();
    assert_eq!(f.store.check().unwrap(), []);
}

#[test]
fn keys_go_400_days_after_they_left_the_window_and_never_while_in_it() {
    let f = fresh();
    let id = daily(&f.store, "https://example.org/a", 4);
    // e0 left on day 1, e1 on day 2, e2 on day 3; e3 is still shown.
    let rule = Retention {
        entries_per_feed_max: Some(0),
        keys_age_max: Some(Duration::ZERO),
        ..Retention::off()
    };
    let day_2 = at(2 * DAY) + KEYS_AGE_MIN;
    assert_eq!(f.store.retain(&rule, day_2).unwrap().keys, 1);
    let much_later = at(100_000 * DAY);
    assert_eq!(f.store.retain(&rule, much_later).unwrap().keys, 2);
    assert_eq!(poll(&f.store, id, &["e3"], much_later), [0_i64; 0]);
    assert_eq!(poll(&f.store, id, &["e3", "e0"], much_later), [5], "forgotten, so it is new");
    assert_eq!(f.store.check().unwrap(), []);
}

#[test]
fn a_key_stays_as_long_as_its_text() {
    let f = fresh();
    let id = daily(&f.store, "https://example.org/a", 3);
    let rule = Retention { keys_age_max: Some(Duration::ZERO), ..Retention::off() };
    assert_eq!(f.store.retain(&rule, at(100_000 * DAY)).unwrap().keys, 0);
    assert_eq!(poll(&f.store, id, &["e0", "e1"], at(100_000 * DAY)), [0_i64; 0]);
}

#[test]
fn a_key_that_came_back_into_the_window_is_not_forgotten() {
    let f = fresh();
    let id = daily(&f.store, "https://example.org/a", 2);
    poll(&f.store, id, &["e0"], at(5 * DAY));
    let rule = Retention {
        entries_per_feed_max: Some(0),
        keys_age_max: Some(Duration::ZERO),
        ..Retention::off()
    };
    assert_eq!(f.store.retain(&rule, at(100_000 * DAY)).unwrap().keys, 1, "e1 only");
    assert_eq!(f.store.check().unwrap(), []);
}

/// Matches every entry with one query.
pub struct MatchesAll;

impl store::EntryMatcher for MatchesAll {
    fn fresh(&self) -> Box<dyn store::EntryMatcher> {
        Box::new(MatchesAll)
    }
    fn is_empty(&self) -> bool {
        false
    }
    fn clear(&mut self) {}
    fn put(&mut self, _: QueryId, _: &str, _: &str, _: &[(u64, Vec<u8>)]) -> Vec<u64> {
        Vec::new()
    }
    fn remove_query(&mut self, _: QueryId) {}
    fn reads(&self, _: &str, _: &[String]) -> bool {
        true
    }
    fn match_entry(&mut self, _: &store::ArrivedEntry<'_>) -> Vec<store::QueryMatch> {
        vec![store::QueryMatch { query: QueryId(1), partner: None }]
    }
    fn take_changes(&mut self) -> Vec<store::QueryStateChange> {
        Vec::new()
    }
    fn decayed_share(&self, before: store::RelevantShare, _: u32, _: u32) -> store::RelevantShare {
        before
    }
}

#[tokio::test]
async fn what_a_receiver_has_not_got_is_held_and_its_loss_is_written_down() {
    let f = fresh();
    f.store.install(Box::new(MatchesAll)).unwrap();
    let new = store::NewQuery {
        name: "Q".to_owned(),
        text: "x".to_owned(),
        urls: Vec::new(),
        receivers: vec!["webhook https://example.org/".to_owned()],
        scope: store::QueryScope::default(),
        link_key: String::new(),
        signing_key: String::new(),
    };
    f.store.change_queries(vec![store::QueryChange::Put(new)], None, at(0)).unwrap();
    let receiver = f.store.deliveries(None).unwrap().remove(0).id;
    daily(&f.store, "https://example.org/a", 40);
    // Ten were delivered; the others wait.
    f.store.delivered(receiver, 0, 10, None, at(1)).await.unwrap();
    for rule in [
        Retention { entries_age_max: Some(days(1)), ..Retention::off() },
        Retention { entries_per_feed_max: Some(1), ..Retention::off() },
        Retention { entries_max: Some(1), ..Retention::off() },
    ] {
        f.store.retain(&rule, at(20 * DAY)).unwrap();
        let left = guids(&f.store);
        assert_eq!((left.len(), left[0].as_str()), (30, "e10"), "{rule:?}");
    }
    assert!(f.store.dead_letters(receiver).unwrap().is_empty());

    // A receiver that stays away for more than a month does not fill the disk.
    let rule = Retention { entries_age_max: Some(days(1)), ..Retention::off() };
    f.store.retain(&rule, at(45 * DAY)).unwrap();
    assert_eq!(guids(&f.store)[0], "e16");
    let letters = f.store.dead_letters(receiver).unwrap();
    let lost: Vec<i64> = letters.iter().map(|letter| letter.position).collect();
    assert_eq!(lost, [11, 12, 13, 14, 15, 16]);
    assert!(letters[0].error.contains("retention"), "{letters:?}");
    assert_eq!(f.store.check().unwrap(), []);
}
