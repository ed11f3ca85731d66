//! A hundred people on one instance: answers are each person's own, and recording a poll writes
//! nothing for any of them. `make bench` measures the same with ten thousand.

#[path = "../../examples/load/crowd.rs"]
mod filling;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use api::{ServerContext, router};
use axum::Router;
use feed::{EntryKey, FeedId, FeedUrl, Item, Outcome, Published};
use filling::{Crowd, CrowdPerson};
use serde_json::Value;
use store::{NewEntry, NewFeed, OpenMode, PollRecord, Store};
use tempfile::TempDir;

use crate::fixture::{T0, live};
use crate::get;

const CROWD: Crowd = Crowd { n_people: 100, n_feeds: 200, n_subscriptions: 20 };
/// Nobody reads this feed.
const UNREAD: FeedId = FeedId(CROWD.n_feeds + 1);
const ENTRIES_OF_FEED: usize = 2;

struct Instance {
    store: Store,
    router: Router,
    people: Vec<CrowdPerson>,
    _folder: TempDir,
}

fn instance() -> Instance {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let new = |n: u32| NewFeed {
        url: FeedUrl::parse(&format!("https://feed{n}.example/")).unwrap(),
        title: None,
        site: None,
        tags: Vec::new(),
    };
    store.add_feeds(&(1..=UNREAD.0).map(new).collect::<Vec<_>>(), T0).unwrap();
    for n in 1..=UNREAD.0 {
        poll(&store, FeedId(n), 0);
    }
    let people = CROWD.fill(&store, T0).unwrap();
    let context = ServerContext::new(store.clone(), Arc::new(|| T0), Arc::new(live), "1").unwrap();
    Instance { router: router(context), store, people, _folder: folder }
}

/// Records two new entries of a feed, whose titles name it.
fn poll(store: &Store, feed: FeedId, generation: u32) {
    let mut record = PollRecord::empty(feed, generation, T0, Outcome::Seen, T0);
    for n in 0..ENTRIES_OF_FEED {
        let number = (u64::from(feed.0) << 32) + (u64::from(generation) << 8) + n as u64;
        let mut key = [0; 16];
        key[..8].copy_from_slice(&number.to_le_bytes());
        let title = Some(format!("Entry {generation} of feed{}.", feed.0));
        record.document_mut().entries.new.push(NewEntry {
            key: EntryKey::from_bytes(key),
            item: Item { title, ..Item::default() },
            published: Published { claim: None, at: T0 },
            content: number,
            facts: store::EntryFacts::default(),
        });
    }
    store.record_blocking(record).unwrap();
}

impl Instance {
    async fn json(&self, person: &CrowdPerson, path: &str) -> Value {
        let bearer = format!("Bearer {}", person.token);
        let google = format!("GoogleLogin auth={}", person.token);
        let headers = match path {
            path if path.starts_with("/v1/") => [("x-auth-token", person.token.as_str())],
            path if path.starts_with("/reader/") => [("authorization", google.as_str())],
            _ => [("authorization", bearer.as_str())],
        };
        let answer = get(&self.router, path, &headers).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        serde_json::from_str(&answer.text).unwrap()
    }

    /// The rows of each table that a change adds, removes or alters.
    fn changed_by(&self, change: impl FnOnce()) -> BTreeMap<String, usize> {
        let rows = || store::testing::rows(self.store.location());
        let before = rows();
        change();
        let changes = rows().into_iter().map(|(table, after)| {
            let before: BTreeSet<&String> = before[&table].iter().collect();
            let n = after.iter().filter(|row| !before.contains(row)).count();
            (table, n + before.len().saturating_sub(after.len()))
        });
        changes.filter(|(_, n)| *n > 0).collect()
    }
}

/// The feeds that titles of entries name.
fn named(value: &Value) -> BTreeSet<u32> {
    let text = value.to_string();
    let after = text.split("of feed").skip(1);
    after.map(|rest| rest.split('.').next().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn each_of_a_hundred_people_gets_exactly_the_own_entries() {
    let instance = instance();
    assert_eq!(instance.people.len(), 100);
    for person in &instance.people {
        let rows = instance.store.subscriptions(person.account).unwrap();
        assert_eq!(rows.iter().map(|row| row.feed).collect::<Vec<_>>(), person.feeds);
        assert!(rows.iter().all(|row| row.tags == [filling::tag(row.feed)]), "{rows:?}");
        let own: BTreeSet<u32> = person.feeds.iter().map(|feed| feed.0).collect();
        let n_entries = own.len() * ENTRIES_OF_FEED;
        for path in [
            "/api/v1/reading?unread=true&limit=100",
            "/v1/entries?status=unread&limit=100",
            "/reader/api/0/stream/contents/user/-/state/com.google/reading-list?n=100",
        ] {
            let answer = instance.json(person, path).await;
            assert_eq!(named(&answer), own, "{path}");
            assert_eq!(answer.to_string().matches("of feed").count(), n_entries, "{path}");
        }
        let unread = instance.json(person, "/api/v1/reading/unread").await;
        assert_eq!(unread["unread"], n_entries);
        let tag = filling::tag(person.feeds[7]);
        let tagged = format!("/api/v1/reading?limit=100&tag={}", tag.replace(' ', "+"));
        let with_tag = person.feeds.iter().filter(|feed| filling::tag(**feed) == tag);
        let expected: BTreeSet<u32> = with_tag.map(|feed| feed.0).collect();
        assert_eq!(named(&instance.json(person, &tagged).await), expected);
        let starred = instance.json(person, "/api/v1/reading?starred=true&limit=100").await;
        let with_star = own.iter().filter(|feed| i64::from(**feed) % 10 == person.account.0 % 10);
        assert_eq!(named(&starred), with_star.copied().collect());
    }
}

#[tokio::test]
async fn a_poll_writes_the_same_rows_for_a_hundred_subscribers_as_for_none() {
    let instance = instance();
    let n_subscribers = |feed| instance.store.n_subscribers(feed).unwrap();
    let most = FeedId(1);
    assert_eq!((n_subscribers(most), n_subscribers(UNREAD)), (100, 0));
    let belongs = store::testing::rows_of_accounts(&instance.store);
    assert!(belongs["subscriptions"] == 2000 && belongs["stars"] > 0, "{belongs:?}");
    let for_all = instance.changed_by(|| poll(&instance.store, most, 1));
    let for_none = instance.changed_by(|| poll(&instance.store, UNREAD, 1));
    assert_eq!(for_all, for_none);
    assert_eq!(for_all["entry_keys"], ENTRIES_OF_FEED, "{for_all:?}");
    for table in belongs.keys() {
        assert!(!for_all.contains_key(table), "{table} belongs to people: {for_all:?}");
    }
    assert_eq!(store::testing::rows_of_accounts(&instance.store), belongs);
    // Everybody has the news, and marks are of one person only.
    let [first, rest @ ..] = &instance.people[..] else { panic!("nobody") };
    let path = "/v1/entries?status=unread&limit=2&order=id&direction=desc";
    let news = instance.json(first, path).await;
    let ids = news["entries"].as_array().unwrap();
    let ids: Vec<_> = ids.iter().map(|row| feed::EntryId(row["id"].as_i64().unwrap())).collect();
    instance.store.mark_read(first.account, &ids, true).unwrap();
    let unread = async |person| instance.json(person, "/api/v1/reading/unread").await;
    let of_own = 20 * ENTRIES_OF_FEED;
    assert_eq!(unread(first).await["unread"], of_own);
    for person in rest {
        assert_eq!(unread(person).await["unread"], of_own + ENTRIES_OF_FEED);
    }
}
