//! Subscribers of our hub: unverified requests take no place from verified subscribers, and end
//! soon.

use std::time::Duration;

use feed::{Domain, Time};
use store::{
    HUB_REQUEST_LIFE, NewQuery, QueryChange, QueryId, Store, SubscriberProtocol, SubscriberRequest,
    SubscriberRequestKind, SubscriberRequestOutcome,
};

use crate::sample::{T0, at, fresh};

fn query(store: &Store) -> QueryId {
    let new = NewQuery {
        name: "Q".to_owned(),
        text: "x".to_owned(),
        urls: Vec::new(),
        receivers: Vec::new(),
        scope: store::QueryScope::default(),
        link_key: String::new(),
        signing_key: String::new(),
    };
    store.change_queries(vec![QueryChange::Put(new)], None, T0).unwrap();
    store.query("Q").unwrap().unwrap().id
}

fn subscribe() -> SubscriberRequestKind {
    SubscriberRequestKind::Subscribe { secret: None, lease: Duration::from_secs(86_400) }
}

/// A request for a callback at a domain, sent by a client.
fn wish(query: QueryId, domain: &str, path: usize, from: &str) -> SubscriberRequest {
    SubscriberRequest {
        query,
        topic: "http://localhost/feeds/Q.atom".to_owned(),
        callback: format!("https://{domain}/{path}"),
        domain: Domain::from_stored(domain),
        from: from.to_owned(),
        kind: subscribe(),
        protocol: SubscriberProtocol::WebSub,
    }
}

fn due(store: &Store, now: Time) -> Vec<i64> {
    let mut due = Vec::new();
    store.hub_requests_due(now, |wish| due.push(wish.id)).unwrap();
    due
}

/// A verified subscriber.
async fn confirmed(store: &Store, wish: &SubscriberRequest, now: Time) -> i64 {
    assert_eq!(store.add_hub_request(wish, now).unwrap(), SubscriberRequestOutcome::Taken);
    let id = *due(store, now).last().unwrap();
    store.confirm_hub_request(id, wish.kind.clone(), now).await.unwrap();
    id
}

fn is_too_many(noted: SubscriberRequestOutcome) -> bool {
    matches!(noted, SubscriberRequestOutcome::TooMany(wait) if wait <= HUB_REQUEST_LIFE)
}

#[tokio::test]
async fn a_flood_of_wishes_takes_no_place_from_an_honest_subscriber() {
    let fresh = fresh();
    let store = &fresh.store;
    let query = query(store);
    let old = confirmed(store, &wish(query, "reader.org", 0, "192.0.2.1"), T0).await;
    let mut taken = 0;
    for n in 0..1100 {
        let noted =
            store.add_hub_request(&wish(query, "tarpit.org", n, "203.0.113.1"), T0).unwrap();
        taken += usize::from(noted == SubscriberRequestOutcome::Taken);
    }
    assert_eq!(taken, 4, "one domain");
    for n in 0..1100 {
        let domain = format!("tarpit{n}.org");
        let noted = store.add_hub_request(&wish(query, &domain, n, "203.0.113.1"), T0).unwrap();
        taken += usize::from(noted == SubscriberRequestOutcome::Taken);
    }
    assert_eq!(taken, 16, "one client");
    // Other clients succeed, and a verified subscriber can renew.
    confirmed(store, &wish(query, "honest.org", 0, "192.0.2.2"), T0).await;
    let renewal = wish(query, "reader.org", 0, "192.0.2.1");
    assert_eq!(store.add_hub_request(&renewal, T0).unwrap(), SubscriberRequestOutcome::Taken);
    assert!(store.hub_subscription(old).unwrap().unwrap().lease_until.is_some());
}

#[tokio::test]
async fn wishes_of_many_clients_fill_their_own_places_only_and_end_soon() {
    let fresh = fresh();
    let store = &fresh.store;
    let query = query(store);
    let old = confirmed(store, &wish(query, "reader.org", 0, "192.0.2.1"), T0).await;
    let flood = |now| {
        (0..1100)
            .map(|n| wish(query, &format!("tarpit{n}.org"), n, &format!("203.0.113.{n}")))
            .filter(|wish| {
                store.add_hub_request(wish, now).unwrap() == SubscriberRequestOutcome::Taken
            })
            .count()
    };
    assert_eq!(flood(T0), 256);
    let honest = wish(query, "honest.org", 0, "192.0.2.2");
    assert_eq!(store.add_hub_request(&honest, T0).unwrap(), SubscriberRequestOutcome::Full);
    store.end_leases(T0 + HUB_REQUEST_LIFE).await.unwrap();
    assert!(due(store, T0 + HUB_REQUEST_LIFE).is_empty());
    confirmed(store, &honest, T0 + HUB_REQUEST_LIFE).await;
    assert!(store.hub_subscription(old).unwrap().is_some(), "a confirmed subscriber stays");
}

#[tokio::test]
async fn one_domain_does_not_take_all_places_of_a_query() {
    let fresh = fresh();
    let store = &fresh.store;
    let query = query(store);
    for n in 0..20 {
        confirmed(store, &wish(query, "greedy.org", n, "203.0.113.1"), T0).await;
    }
    let more = store.add_hub_request(&wish(query, "greedy.org", 20, "203.0.113.1"), T0).unwrap();
    assert_eq!(more, SubscriberRequestOutcome::Full);
    confirmed(store, &wish(query, "honest.org", 0, "192.0.2.2"), T0).await;
}

#[tokio::test]
async fn a_callback_that_refused_is_not_asked_again_at_once_however_often_somebody_wishes_it() {
    let fresh = fresh();
    let store = &fresh.store;
    let query = query(store);
    let first = wish(query, "victim.org", 0, "203.0.113.1");
    assert_eq!(store.add_hub_request(&first, T0).unwrap(), SubscriberRequestOutcome::Taken);
    let id = due(store, T0)[0];
    // A repetition while it waits does not verify it earlier.
    store.retry_hub_request(id, 1, at(30)).await.unwrap();
    assert_eq!(store.add_hub_request(&first, at(1)).unwrap(), SubscriberRequestOutcome::Taken);
    assert!(due(store, at(1)).is_empty());
    store.refuse_hub_request(id).await.unwrap();
    let again = SubscriberRequest { from: "203.0.113.2".to_owned(), ..first };
    assert!(
        is_too_many(store.add_hub_request(&again, at(2)).unwrap()),
        "even if another client sends it"
    );
    assert!(due(store, at(90)).is_empty());
    store.end_leases(T0 + HUB_REQUEST_LIFE).await.unwrap();
    assert_eq!(
        store.add_hub_request(&again, T0 + HUB_REQUEST_LIFE).unwrap(),
        SubscriberRequestOutcome::Taken
    );

    // Refused requests count for their client.
    for n in 0..16 {
        let noted =
            store.add_hub_request(&wish(query, &format!("v{n}.org"), n, "203.0.113.9"), at(200));
        assert_eq!(noted.unwrap(), SubscriberRequestOutcome::Taken);
        store.refuse_hub_request(*due(store, at(200)).last().unwrap()).await.unwrap();
    }
    let noted = store.add_hub_request(&wish(query, "v99.org", 0, "203.0.113.9"), at(200)).unwrap();
    assert!(is_too_many(noted));
}

#[tokio::test]
async fn a_wish_of_a_stranger_changes_nothing_for_a_confirmed_subscriber() {
    let fresh = fresh();
    let store = &fresh.store;
    let query = query(store);
    let own = wish(query, "reader.org", 0, "192.0.2.1");
    let id = confirmed(store, &own, T0).await;
    store.note_hub_push(id, None, 3, Some(at(500))).await.unwrap();
    let kind = SubscriberRequestKind::Subscribe {
        secret: Some("theirs".to_owned()),
        lease: HUB_REQUEST_LIFE,
    };
    let theirs = SubscriberRequest { from: "203.0.113.1".to_owned(), kind, ..own };
    assert_eq!(store.add_hub_request(&theirs, at(1)).unwrap(), SubscriberRequestOutcome::Taken);
    let row = store.hub_subscription(id).unwrap().unwrap();
    assert_eq!((row.attempts, row.secret), (3, None), "its pushes go on as before");
    store.refuse_hub_request(id).await.unwrap();
    store.end_leases(T0 + HUB_REQUEST_LIFE * 2).await.unwrap();
    let row = store.hub_subscription(id).unwrap().unwrap();
    assert_eq!((row.request, row.secret), (None, None));
    assert!(row.lease_until.is_some());
}
