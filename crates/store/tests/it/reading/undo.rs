//! Marking a list as read can be undone exactly, once, within an hour. Also the preferences of an
//! account.

use std::time::Duration;

use feed::EntryId;
use store::{AccountId, Retention, Scope, UNDO_LASTS};

use crate::sample::{Fresh, T0, at, fresh, item, new_feed, seen};

const ME: AccountId = AccountId::LOCAL;
const OTHER: AccountId = AccountId(8);

/// Two feeds with three entries each: 1 to 3 and 4 to 6.
fn two_feeds() -> Fresh {
    let fresh = fresh();
    for n in 0..2 {
        let feed = fresh.store.add_feed(&new_feed(&format!("https://f{n}.example/")), T0).unwrap();
        let items: Vec<_> = (0..3).map(|k| item(&format!("{n}-{k}"), "t")).collect();
        let record = seen(&fresh.store, feed.id, &items, at(10));
        fresh.store.record_blocking(record).unwrap();
    }
    fresh
}

fn unread(fresh: &Fresh, account: AccountId) -> Vec<i64> {
    let marks = fresh.store.read_marks(account).unwrap();
    let mut unread: Vec<i64> = marks.unread().map(|entry| entry.0).collect();
    unread.sort_unstable();
    unread
}

#[test]
fn an_undo_restores_exactly_what_the_act_marked() {
    let fresh = two_feeds();
    let store = &fresh.store;
    store.mark_read(ME, &[EntryId(2)], true).unwrap();
    for (scope, left) in [(Scope::All, vec![6]), (Scope::Feed(feed::FeedId(1)), vec![4, 5, 6])] {
        let n = store.mark_list_read(ME, &scope, EntryId(5), at(20)).unwrap();
        assert_eq!(unread(&fresh, ME), left);
        assert_eq!(store.undoable(ME, at(21)).unwrap(), Some(n));
        assert_eq!(unread(&fresh, OTHER).len(), 6, "nobody else's marks change");
        assert!(!store.undo_mark_list(OTHER, at(21)).unwrap());
        assert!(store.undo_mark_list(ME, at(21)).unwrap());
        assert_eq!(unread(&fresh, ME), [1, 3, 4, 5, 6], "2 was read before and stays read");
        assert!(!store.undo_mark_list(ME, at(22)).unwrap(), "once");
    }
}

#[test]
fn an_undo_ends_after_an_hour_and_only_the_last_act_has_one() {
    let fresh = two_feeds();
    let store = &fresh.store;
    let feed = |n| Scope::Feed(feed::FeedId(n));
    store.mark_list_read(ME, &feed(1), EntryId(6), at(20)).unwrap();
    store.mark_list_read(ME, &feed(2), EntryId(6), at(30)).unwrap();
    assert!(store.undo_mark_list(ME, at(40)).unwrap());
    assert_eq!(unread(&fresh, ME), [4, 5, 6]);
    store.mark_list_read(ME, &Scope::All, EntryId(6), at(50)).unwrap();
    let late = at(50) + UNDO_LASTS;
    assert_eq!(store.undoable(ME, late - Duration::from_secs(1)).unwrap(), Some(3));
    assert_eq!(store.undoable(ME, late).unwrap(), None);
    assert!(!store.undo_mark_list(ME, late).unwrap());
    assert_eq!(unread(&fresh, ME), Vec::<i64>::new());
    assert_eq!(store.mark_list_read(ME, &Scope::All, EntryId(6), late).unwrap(), 0);
    assert_eq!(store.undoable(ME, late).unwrap(), None, "an act without effect has no undo");
}

#[test]
fn entries_that_are_gone_are_not_counted_and_stay_gone() {
    let fresh = two_feeds();
    let retention = Retention { entries_per_feed_max: Some(1), ..Retention::off() };
    let _ = fresh.store.retain(&retention, at(1000));
    let kept = unread(&fresh, ME);
    let n = fresh.store.mark_list_read(ME, &Scope::All, EntryId(6), at(1001)).unwrap();
    assert_eq!(n, kept.len() as u64);
    assert!(fresh.store.undo_mark_list(ME, at(1002)).unwrap());
    assert_eq!(unread(&fresh, ME), kept);
}

#[test]
fn choices_are_kept_by_account_and_can_be_taken_back() {
    let fresh = fresh();
    let store = &fresh.store;
    store.choose(ME, "zone", Some("Europe/Berlin")).unwrap();
    store.choose(ME, "zone", Some("Asia/Tokyo")).unwrap();
    store.choose(ME, "order", Some(&"x".repeat(65))).unwrap();
    let mine: Vec<_> = store.choices(ME).unwrap().into_iter().collect();
    assert_eq!(mine, [("zone".to_owned(), "Asia/Tokyo".to_owned())]);
    assert!(store.choices(OTHER).unwrap().is_empty());
    store.choose(ME, "zone", None).unwrap();
    assert!(store.choices(ME).unwrap().is_empty());
}
