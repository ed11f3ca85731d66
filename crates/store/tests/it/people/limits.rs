//! Limits of what a reader may have. An administrator has none.

use store::{
    AccountId, AccountRole, BulkScope, FeedSelection, FeedsChange, NewQuery, QueryChange,
    QueryScope, Store, StoreError,
};

use crate::sample::{T0, fresh, new_feed};

fn queries(owner: AccountId, numbers: std::ops::Range<u32>) -> Vec<QueryChange> {
    let new = |n: u32| NewQuery {
        name: format!("Q{owner}x{n}"),
        text: format!("CREATE FEED Q{owner}x{n} AS RETURN ALL FEEDS"),
        urls: Vec::new(),
        receivers: Vec::new(),
        scope: QueryScope { owner: Some(owner), shared: false },
        link_key: "k".to_owned(),
        signing_key: "k".to_owned(),
    };
    numbers.map(|n| QueryChange::Put(new(n))).collect()
}

fn people(store: &Store) -> (AccountId, AccountId) {
    let admin = store.add_account("anna", "hash", T0).unwrap().unwrap();
    let role = Some(AccountRole::Reader);
    (admin, store.add_account_as("bert", "hash", role, T0).unwrap().unwrap())
}

#[test]
fn a_reader_has_at_most_so_many_queries() {
    let fresh = fresh();
    let store = &fresh.store;
    let (anna, bert) = people(store);
    let change = |changes| store.change_queries(changes, None, T0).map(drop);
    change(queries(bert, 0..200)).unwrap();
    let refused = change(queries(bert, 200..201)).unwrap_err();
    assert!(matches!(refused, StoreError::TooMany { what: "queries", most: 200 }), "{refused}");
    assert!(refused.to_string().contains("too many queries (at most 200)"), "{refused}");
    assert_eq!(store.queries_of(bert).unwrap().len(), 200, "nothing has changed");
    change(queries(bert, 7..8)).unwrap();
    change(queries(anna, 0..201)).unwrap();
    // One out, one in.
    let mut swap = vec![QueryChange::Drop(format!("Q{bert}x0"))];
    swap.extend(queries(bert, 200..201));
    change(swap).unwrap();
}

#[test]
fn a_reader_has_at_most_so_many_subscriptions() {
    let fresh = fresh();
    let store = &fresh.store;
    let (anna, bert) = people(store);
    let feeds: Vec<_> = (0..5001).map(|n| new_feed(&format!("https://a.org/{n}"))).collect();
    let refused = store.subscribe(bert, &feeds, T0).unwrap_err();
    assert!(matches!(refused, StoreError::TooMany { what: "subscriptions", .. }), "{refused}");
    assert_eq!(store.subscriptions(bert).unwrap(), [], "all or none");
    store.subscribe(bert, &feeds[..5000], T0).unwrap();
    let one_more = store.subscribe(anna, &feeds[5000..], T0).unwrap()[0].id;
    assert!(store.subscribe_to(bert, one_more, &[], T0).is_err());
    store.subscribe(bert, &feeds[..1], T0).unwrap();
    assert_eq!(store.subscriptions(bert).unwrap().len(), 5000);
    // An undo does not pass the limit either.
    let own = BulkScope { actor: bert, owner: bert };
    let first = store.subscriptions(bert).unwrap()[0].feed;
    let (one, leave) = (FeedSelection::Feeds(vec![first]), FeedsChange::Unsubscribe);
    store.change_feeds(own, &one, &leave, |_| "left".to_owned(), T0).unwrap();
    store.subscribe_to(bert, one_more, &[], T0).unwrap();
    let refused = store.undo_bulk(own, None, T0).unwrap_err();
    assert!(matches!(refused, StoreError::TooMany { what: "subscriptions", .. }), "{refused}");
    store.unsubscribe(bert, &[one_more], T0).unwrap();
    assert!(store.undo_bulk(own, None, T0).unwrap().is_some(), "it waited");
}
