//! A feed that gets another address.

use feed::{EntryId, FeedId, Outcome};
use store::{
    AccountId, AddressChange, FeedState, Gone, NewQuery, PollRecord, QueryChange, SettingsChange,
    StoreError,
};

use crate::sample::{add, at, fresh, items, poll, seen, url};

#[test]
fn what_was_kept_stays_and_what_belongs_to_the_old_address_goes() {
    let f = fresh();
    let store = &f.store;
    let feed = add(store, "https://user:secret@a.example/f?token=x");
    store.tag_feed(feed, &["news".to_owned()], &[]).unwrap();
    let policy =
        SettingsChange { policy: Some(Some("fix:1h".into())), ..SettingsChange::default() };
    store.set_feed(feed, &policy).unwrap();
    poll(store, feed, &["1", "2"], at(1));
    let mut record = seen(store, feed, &items(&["1", "2"]), at(2));
    record.location.effective_url = Some(url("https://elsewhere.example/f"));
    record.decision.learned = Some(vec![1, 2, 3]);
    store.record_blocking(record).unwrap();
    store.mark_read(AccountId::LOCAL, &[EntryId(1)], true).unwrap();
    let before = store.poll_input(feed).unwrap();
    assert!(before.document.validators.etag.is_some() && before.document.body_hash.is_some());

    let new = url("https://b.example/feed");
    let moved = store.move_feed(feed, &new, at(3)).unwrap();
    assert_eq!(moved, AddressChange::Moved { queries: Vec::new() });
    let after = store.poll_input(feed).unwrap();
    assert_eq!((&after.location.url, &after.location.effective_url), (&new, &None));
    assert_eq!(
        (&after.document.validators.etag, after.document.body_hash),
        (&None, None),
        "none is sent elsewhere"
    );
    assert_eq!(
        (&after.document.window, &after.learned),
        (&before.document.window, &before.learned)
    );
    assert_eq!((after.settings, after.schedule.next_at), (before.settings, Some(at(3))));
    let row = store.feed(feed).unwrap();
    assert_eq!((row.entries, row.domain.as_str(), row.tags.len()), (2, "b.example", 1));
    assert!(store.read_marks(AccountId::LOCAL).unwrap().is_read(EntryId(1)));
    let loads = store.domain_loads(10).unwrap();
    let feeds: Vec<(&str, u64)> = loads.iter().map(|l| (l.domain.as_str(), l.feeds)).collect();
    assert_eq!(feeds, [("b.example", 1)]);
    assert_eq!(store.find_feed("https://user:secret@a.example/f?token=x").unwrap(), None);
    assert_eq!(poll(store, feed, &["1", "2", "3"], at(4)), [3], "no entry twice");
    assert!(store.check().unwrap().is_empty());
}

#[test]
fn a_poll_under_way_under_the_old_address_is_refused() {
    let f = fresh();
    let feed = add(&f.store, "https://a.example/f");
    let under_way = seen(&f.store, feed, &items(&["old"]), at(1));
    f.store.move_feed(feed, &url("https://b.example/f"), at(2)).unwrap();
    let error = f.store.record_blocking(under_way).unwrap_err();
    assert!(matches!(error, StoreError::Stale { .. }), "{error}");
    assert_eq!(f.store.feed(feed).unwrap().entries, 0);
}

#[test]
fn an_address_that_another_feed_has_is_refused_with_its_number() {
    let f = fresh();
    let (one, other) = (add(&f.store, "https://a.example/"), add(&f.store, "https://b.example/"));
    let before = f.store.feed(one).unwrap();
    let taken = f.store.move_feed(one, &url("https://B.example:443/#x"), at(1)).unwrap();
    assert_eq!(taken, AddressChange::Taken(other));
    assert_eq!(f.store.feed(one).unwrap(), before);
    let gone = f.store.move_feed(FeedId(99), &url("https://c.example/"), at(1));
    assert!(gone.is_err());
    let same = f.store.move_feed(one, &url("https://a.example/"), at(1)).unwrap();
    assert_eq!(same, AddressChange::Moved { queries: Vec::new() });
    assert_eq!(f.store.feed(one).unwrap(), before, "nothing is dropped for its own address");
}

#[test]
fn a_feed_that_was_gone_is_polled_at_its_new_address() {
    let f = fresh();
    let feed = add(&f.store, "https://a.example/");
    let mut record = PollRecord::empty(feed, 0, at(1), Outcome::Gone, at(2));
    record.location.gone = Some(Gone { at: at(1), reason: "410".to_owned() });
    f.store.record_blocking(record).unwrap();
    f.store.move_feed(feed, &url("https://b.example/"), at(3)).unwrap();
    assert_eq!(f.store.feed(feed).unwrap().state(), FeedState::Active);
    assert_eq!(f.store.due_feeds(at(3)).unwrap(), [feed]);
}

#[test]
fn queries_that_name_the_old_address_are_named() {
    let f = fresh();
    let feed = add(&f.store, "https://a.example/");
    let new = NewQuery {
        name: "Ice".to_owned(),
        text: "CREATE FEED Ice AS RETURN \"https://a.example/\"".to_owned(),
        urls: vec![url("https://a.example/")],
        receivers: Vec::new(),
        scope: store::QueryScope::default(),
        link_key: "k".to_owned(),
        signing_key: "k".to_owned(),
    };
    f.store.change_queries(vec![QueryChange::Put(new)], None, at(0)).unwrap();
    let moved = f.store.move_feed(feed, &url("https://b.example/"), at(1)).unwrap();
    assert_eq!(moved, AddressChange::Moved { queries: vec!["Ice".to_owned()] });
}
