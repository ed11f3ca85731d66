//! Copies of entries that name another feed as their source. A copy of a known entry is not new,
//! and a claim never hides an entry of another feed.

use feed::{FeedId, Item, Source};
use store::{EntryFilter, EntryRow, Store};

use crate::sample::{add, at, fresh, item, seen};

const FIRST: &str = "https://first.example/feed";

fn copy(id: &str, title: &str, source: &str, via: &[String]) -> Item {
    let url = Some(source.to_owned());
    let source = Some(Source { url, via: via.to_vec(), ..Source::default() });
    Item { source, ..item(id, title) }
}

fn poll(store: &Store, feed: FeedId, items: &[Item], secs: i64) -> usize {
    let record = seen(store, feed, items, at(secs));
    store.record_blocking(record).unwrap().new_ids.len()
}

fn entries(store: &Store, feed: FeedId) -> Vec<EntryRow> {
    let filter = EntryFilter { feed: Some(feed), limit: 100 };
    store.entries(feed::EntryId(0), &filter).unwrap()
}

#[test]
fn a_copy_of_an_entry_of_an_own_feed_is_not_new() {
    let fresh = fresh();
    let store = &fresh.store;
    let (first, relay) = (add(store, FIRST), add(store, "https://relay.example/all"));
    let text_only = Item { title: Some("no id".to_owned()), ..Item::default() };
    let linked = Item { link: Some("https://first.example/l".to_owned()), ..Item::default() };
    let shown = [item("https://first.example/1", "a"), item("plain id", "b"), linked, text_only];
    assert_eq!(poll(store, first, &shown, 0), 4);
    let nameless = |entry: &EntryRow| entry.guid.is_none() && entry.link.is_none();
    let number = entries(store, first).into_iter().find(nameless).unwrap().id;
    let copies = [
        copy("https://first.example/1", "edited on the way", FIRST, &[]),
        copy("tag:first.example,2005:plain+id", "b", "http://first.example/feed", &[]),
        copy("https://first.example/l", "c", FIRST, &[]),
        copy(&format!("tag:first.example,2005:{number}"), "no id", FIRST, &[]),
        copy("https://first.example/5", "new", FIRST, &[]),
        copy("https://first.example/1", "another feed's", "https://other.example/feed", &[]),
    ];
    for (number, one) in copies.iter().enumerate() {
        let key = feed::identify(vec![one.clone()], &Default::default())[0].key;
        let known = store.known_copies(relay, &[(key, 0, one)]).unwrap();
        assert_eq!(known.len(), usize::from(number < 4), "{one:?}");
    }
    assert_eq!(poll(store, relay, &copies[..5], 10), 1);
    let kept = entries(store, relay);
    assert_eq!(kept[0].source.as_ref().and_then(Source::name), Some(FIRST));
    assert_eq!(poll(store, relay, &copies[..5], 20), 0, "nor at the next poll");
}

#[test]
fn a_claim_hides_nothing_that_another_feed_shows() {
    let fresh = fresh();
    let store = &fresh.store;
    let (first, liar) = (add(store, FIRST), add(store, "https://liar.example/feed"));
    let (relay, other) = (add(store, "https://relay.example/"), add(store, "https://b.example/"));
    let (unseen, far) = ("https://never.example/feed", "https://never.example/2");
    // The feed with false claims shows first an entry of a feed that we poll, and one of a feed
    // that we do not.
    let fakes =
        [copy("1", "fake", FIRST, &[]), copy(far, "fake", unseen, &[store.instance().unwrap()])];
    assert_eq!(poll(store, liar, &fakes, 0), 2);
    assert_eq!(poll(store, first, &[item("1", "real")], 10), 1, "the feed itself is believed");
    let real = [copy(far, "real", unseen, &[])];
    assert_eq!(poll(store, relay, &real, 20), 1, "a copy that says something else is kept");
    assert_eq!(poll(store, other, &real, 30), 0, "one that says the same is not");
    // Its own entries stay its own.
    assert_eq!(poll(store, liar, &[copy("3", "own", "https://liar.example/feed", &[])], 40), 1);
    assert_eq!(entries(store, liar)[2].source, None);
}

#[test]
fn what_passed_through_this_instance_is_not_new_when_it_comes_back() {
    let fresh = fresh();
    let store = &fresh.store;
    let (relay, back) = (add(store, "https://relay.example/"), add(store, "https://back.example/"));
    let far = "https://far.example/feed";
    assert_eq!(poll(store, relay, &[copy("tag:far.example,2005:1", "<b>raw</b>", far, &[])], 0), 1);
    let via = [store.instance().unwrap()];
    assert!(via[0].len() == 45 && via[0].starts_with("urn:uuid:"), "{via:?}");
    let returned = copy("tag:far.example,2005:1", "raw", far, &via);
    assert_eq!(poll(store, back, &[returned], 10), 0, "even with a text that was cleaned");
    let unknown = copy("tag:far.example,2005:2", "raw", far, &via);
    assert_eq!(poll(store, back, &[unknown], 20), 1, "only what is here has come back");
}

#[test]
fn a_feed_with_a_secret_is_known_by_its_site() {
    let fresh = fresh();
    let store = &fresh.store;
    let (private, relay) =
        (add(store, "https://me:pw@p.example/feed"), add(store, "https://r.example/"));
    let mut record = seen(store, private, &[item("1", "a")], at(0));
    let site = Some("https://p.example/blog".to_owned());
    record.document_mut().facts = store::FeedFacts { site, ..Default::default() };
    store.record_blocking(record).unwrap();
    let copies = [copy("tag:p.example,2005:1", "a", "https://p.example/blog", &[])];
    assert_eq!(poll(store, relay, &copies, 10), 0);
    let bare = add(store, "https://bare.example/feed?token=pw");
    assert_eq!(poll(store, bare, &[item("1", "b")], 20), 1);
    let name = format!("tag:bare.example,2005:feed-{bare}");
    let source = Some(Source { id: Some(name), ..Source::default() });
    let copies = [Item { source, ..item("tag:bare.example,2005:1", "b") }];
    assert_eq!(poll(store, relay, &copies, 30), 0);
}
