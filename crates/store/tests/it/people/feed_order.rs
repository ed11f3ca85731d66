//! The order of the feeds of each account.

use feed::FeedId;
use store::{AccountId, NewFeed, Store};

use crate::sample::{T0, fresh, new_feed};

fn subscribe(store: &Store, account: AccountId, name: &str, tag: &str) -> FeedId {
    let url = new_feed(&format!("https://a.org/{}", name.replace(' ', "-"))).url;
    let tags = vec![tag.to_owned()];
    let new = NewFeed { url, title: Some(name.to_owned()), site: None, tags };
    store.subscribe(account, &[new], T0).unwrap()[0].id
}

fn order(store: &Store, account: AccountId, tag: Option<&str>) -> Vec<String> {
    let feeds = store.feeds_in_own_order(account, tag).unwrap();
    feeds.iter().map(|feed| feed.shown_title().unwrap_or("?").to_owned()).collect()
}

#[test]
fn each_account_has_an_order_of_its_own() {
    let fresh = fresh();
    let store = &fresh.store;
    let [anna, bert] =
        ["anna", "bert"].map(|name| store.add_account(name, "hash", T0).unwrap().unwrap());
    let [d, b, a, c] = [("D", "x"), ("b", "x"), ("A", "y"), ("c", "y")]
        .map(|(name, tag)| subscribe(store, anna, name, tag));
    for name in ["D", "b", "A", "c"] {
        subscribe(store, bert, name, "z");
    }
    assert_eq!(order(store, anna, None), ["A", "b", "c", "D"], "by title at first");
    store.order_subscriptions(anna, &[c, d, a, b]).unwrap();
    assert_eq!(order(store, anna, None), ["c", "D", "A", "b"]);
    assert_eq!(order(store, anna, Some("x")), ["D", "b"]);
    assert_eq!(order(store, bert, None), ["A", "b", "c", "D"], "nobody else's order changes");
    // The order of a tag leaves the feeds of the others where they are.
    store.order_subscriptions(anna, &[b, d]).unwrap();
    assert_eq!(order(store, anna, None), ["c", "b", "A", "D"]);
    assert_eq!(order(store, anna, Some("x")), ["b", "D"]);
    // New feeds follow by title. Feeds of others and repeated ones are ignored.
    let late = subscribe(store, anna, "Z late", "x");
    subscribe(store, anna, "a late", "x");
    assert_eq!(order(store, anna, None), ["c", "b", "A", "D", "a late", "Z late"]);
    let others = subscribe(store, bert, "Bert's", "z");
    store.order_subscriptions(anna, &[late, others, late, c]).unwrap();
    assert_eq!(order(store, anna, None), ["Z late", "b", "A", "D", "a late", "c"]);
    store.unsubscribe(anna, &[b], T0).unwrap();
    assert_eq!(order(store, anna, None), ["Z late", "A", "D", "a late", "c"]);
    assert_eq!(store.check().unwrap(), []);
}
