//! Our subscriptions at rssClouds.

use feed::FeedId;
use store::{CLOUD_LEASE, CloudCandidate, FeedFacts, Store};

use crate::sample::{T0, at, fresh, items, new_feed, seen};

const TOKEN: &str = "token";

/// A feed whose document names this cloud.
fn feed_with(store: &Store, url: &str, cloud: Option<&str>, hub: Option<&str>) -> FeedId {
    let id = store.add_feed(&new_feed(url), T0).unwrap().id;
    tell(store, id, cloud, hub, 10);
    id
}

fn tell(store: &Store, id: FeedId, cloud: Option<&str>, hub: Option<&str>, secs: i64) {
    let mut record = seen(store, id, &items(&["1"]), at(secs));
    let (cloud, hub) = (cloud.map(str::to_owned), hub.map(str::to_owned));
    let topic = hub.clone();
    record.document_mut().facts = FeedFacts { cloud, hub, topic, ..FeedFacts::default() };
    store.record_blocking(record).unwrap();
}

#[tokio::test]
async fn a_feed_with_a_cloud_and_no_hub_is_subscribed_once() {
    let f = fresh();
    let store = &f.store;
    let cloud = "rpc.e.org:80/ping (http-post)";
    let id = feed_with(store, "https://a.org/feed", Some(cloud), None);
    feed_with(store, "https://b.org/feed", Some(cloud), Some("https://hub.org/"));
    feed_with(store, "https://c.org/feed", None, None);
    let found = store.cloud_candidates(10).unwrap();
    let [CloudCandidate { feed, cloud: named, url }] = &found[..] else { panic!("{found:?}") };
    assert_eq!((*feed, named.as_str(), url.as_str()), (id, cloud, "https://a.org/feed"));
    store.begin_cloud(found[0].clone(), TOKEN.to_owned(), at(20), None).await.unwrap();
    assert!(store.cloud_candidates(10).unwrap().is_empty());
    assert!(store.clouds_due(at(19), 10).unwrap().is_empty());
    let due = store.clouds_due(at(20), 10).unwrap();
    assert_eq!((due[0].feed, due[0].topic.as_str(), due[0].attempts), (id, url.as_str(), 0));
    store.note_cloud_asked(id, Some(at(20)), 1, at(620), None).await.unwrap();
    assert!(store.clouds_due(at(619), 10).unwrap().is_empty());
    assert_eq!(store.clouds_due(at(620), 10).unwrap()[0].asked_at, Some(at(20)));
}

#[tokio::test]
async fn a_call_confirms_and_a_notice_makes_the_feed_due_once() {
    let f = fresh();
    let store = &f.store;
    let id = feed_with(store, "https://a.org/feed", Some("rpc.e.org:80/ping (http-post)"), None);
    let candidate = store.cloud_candidates(10).unwrap().remove(0);
    store.begin_cloud(candidate, TOKEN.to_owned(), at(20), None).await.unwrap();
    store.note_cloud_asked(id, Some(at(20)), 1, at(620), Some("silent".into())).await.unwrap();
    let topic = "https://a.org/feed";
    assert!(!store.hear_cloud("other", topic, false, at(30)).unwrap());
    assert!(!store.hear_cloud(TOKEN, "https://b.org/feed", true, at(30)).unwrap());
    assert!(store.take_cloud_notices().await.unwrap().is_empty());
    assert!(store.hear_cloud(TOKEN, topic, false, at(30)).unwrap());
    let row = store.cloud(id).unwrap().unwrap();
    assert_eq!((row.lease_until, row.error), (Some(at(30) + CLOUD_LEASE), None));
    assert_eq!(row.next_at, at(30 + 24 * 3600), "it is renewed before the cloud forgets us");
    for _ in 0..3 {
        assert!(store.hear_cloud(TOKEN, topic, true, at(40)).unwrap());
    }
    assert_eq!(store.take_cloud_notices().await.unwrap(), [id]);
    assert!(store.take_cloud_notices().await.unwrap().is_empty());
    let row = store.cloud(id).unwrap().unwrap();
    assert_eq!(row.n_notices, 1, "notices that wait for the same poll are one");
    assert_eq!(row.lease_until, Some(at(30) + CLOUD_LEASE), "a notice does not extend the lease");
}

#[tokio::test]
async fn a_subscription_ends_with_its_cloud() {
    let f = fresh();
    let store = &f.store;
    let id = feed_with(store, "https://a.org/feed", Some("a.org:80/p (http-post)"), None);
    let candidate = store.cloud_candidates(10).unwrap().remove(0);
    store.begin_cloud(candidate, TOKEN.to_owned(), at(20), None).await.unwrap();
    store.end_clouds().await.unwrap();
    assert!(store.cloud(id).unwrap().is_some(), "nothing has changed");
    tell(store, id, Some("b.org:80/p (http-post)"), None, 30);
    store.end_clouds().await.unwrap();
    assert_eq!(store.cloud(id).unwrap(), None);
    assert!(!store.hear_cloud(TOKEN, "https://a.org/feed", true, at(40)).unwrap());
}
