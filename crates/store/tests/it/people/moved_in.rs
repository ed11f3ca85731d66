//! Marks from other readers, services for sharing, and settings for the requests of feeds.

use feed::{EntryId, FeedId, FetchSetting};
use store::{AccountId, AppliedMarks, FetchSettingRow, PendingMark, ShareKind, ShareTarget};

use crate::sample::{T0, add, at, fresh, items, seen};

fn mark(feed: FeedId, guid: &str, is_read: bool, starred: bool) -> PendingMark {
    PendingMark {
        feed,
        link: None,
        guid: Some(guid.to_owned()),
        title: None,
        is_read,
        starred_at: starred.then_some(at(-50)),
    }
}

#[test]
fn a_mark_is_set_when_its_entry_is_there_and_once() {
    let fresh = fresh();
    let (store, me) = (&fresh.store, AccountId::LOCAL);
    let feed = add(store, "https://e.org/f");
    let marks = vec![mark(feed, "a", true, false), mark(feed, "b", false, true)];
    store.add_pending_marks(me, ("other", "page 1"), marks, T0).unwrap();
    let gone = vec![mark(FeedId(99), "a", true, true)];
    store.add_pending_marks(me, ("other", "page 2"), gone, T0).unwrap();
    assert_eq!(store.move_in_state(me, "other").unwrap().as_deref(), Some("page 2"));
    assert_eq!(store.move_in_state(AccountId(7), "other").unwrap(), None);
    let waiting = store.waiting_marks().unwrap();
    assert_eq!(waiting.len(), 1, "a feed that does not exist has no marks: {waiting:?}");
    assert_eq!(waiting[0].last_entry, None);
    assert_eq!(store.apply_pending_marks(me, feed, T0).unwrap(), AppliedMarks::default());

    store.record_blocking(seen(store, feed, &items(&["a", "b", "c"]), at(10))).unwrap();
    assert!(store.waiting_marks().unwrap()[0].last_entry.is_some());
    let applied = store.apply_pending_marks(me, feed, at(20)).unwrap();
    assert_eq!((applied.n_read, applied.n_starred), (1, 1));
    let entries = [1, 2, 3].map(EntryId);
    let rows = store.read_entries(me, &entries).unwrap();
    let of = |guid: &str| rows.iter().find(|row| row.entry.title.as_deref() == Some(guid)).unwrap();
    assert!(of("title of a").read && !of("title of a").starred);
    assert!(!of("title of b").read && of("title of b").starred);
    assert!(!of("title of c").read && !of("title of c").starred);
    assert_eq!(store.unmatched_marks(me, 9).unwrap(), (0, Vec::new()));
    // Marks that wait for too long are dropped.
    store.add_pending_marks(me, ("other", "x"), vec![mark(feed, "z", false, true)], T0).unwrap();
    assert_eq!(store.unmatched_marks(me, 9).unwrap().0, 1);
    store.apply_pending_marks(me, feed, at(91 * 86_400)).unwrap();
    assert_eq!(store.unmatched_marks(me, 9).unwrap().0, 0);
}

#[test]
fn services_belong_to_one_person_and_go_with_the_account() {
    let fresh = fresh();
    let store = &fresh.store;
    let target = |name: &str| ShareTarget {
        position: 0,
        name: name.to_owned(),
        kind: ShareKind::Webhook,
        template: "https://in.example/".to_owned(),
        signing_key: "k".to_owned(),
    };
    assert_eq!(store.add_share_target(AccountId::LOCAL, &target("a")).unwrap(), Some(1));
    assert_eq!(store.add_share_target(AccountId::LOCAL, &target("b")).unwrap(), Some(2));
    let anna = store.add_account("anna", "hash", T0).unwrap().unwrap();
    assert_eq!(store.share_targets(anna).unwrap().len(), 2, "the first account takes them over");
    assert!(!store.remove_share_target(AccountId::LOCAL, 1).unwrap());
    assert!(store.remove_share_target(anna, 1).unwrap());
    assert_eq!(store.add_share_target(anna, &target("c")).unwrap(), Some(3));
    for _ in 2..30 {
        assert!(store.add_share_target(anna, &target("d")).unwrap().is_some());
    }
    assert_eq!(store.add_share_target(anna, &target("e")).unwrap(), None, "there is a limit");
    store.remove_account(anna).unwrap();
    assert!(store.share_targets(anna).unwrap().is_empty());
}

#[test]
fn settings_for_requests_are_replaced_removed_and_end_conditions() {
    let fresh = fresh();
    let store = &fresh.store;
    let feed = add(store, "https://e.org/f");
    store.record_blocking(seen(store, feed, &items(&["a"]), at(10))).unwrap();
    assert!(store.poll_input(feed).unwrap().document.body_hash.is_some());
    let row = |setting: FetchSetting, sealed: &[u8]| FetchSettingRow {
        feed,
        setting,
        origin: "https://e.org".to_owned(),
        shown: None,
        sealed: Some(sealed.to_vec()),
    };
    assert!(!store.has_secrets().unwrap());
    let set = vec![row(FetchSetting::Login, b"1"), row(FetchSetting::Cookie, b"2")];
    store.set_fetch_settings(feed, set, Vec::new(), at(20)).unwrap();
    assert!(store.has_secrets().unwrap());
    assert_eq!(store.poll_input(feed).unwrap().document.body_hash, None, "all is asked for again");
    let set = vec![row(FetchSetting::Login, b"3")];
    store.set_fetch_settings(feed, set.clone(), vec![FetchSetting::Cookie], at(30)).unwrap();
    assert_eq!(store.fetch_settings_of(feed).unwrap(), set);
    assert_eq!(store.fetch_settings().unwrap(), set);
    let missing = store.set_fetch_settings(FeedId(9), Vec::new(), Vec::new(), T0);
    assert!(missing.is_err());
    store.remove_feed(feed).unwrap();
    assert!(store.fetch_settings().unwrap().is_empty());
}
