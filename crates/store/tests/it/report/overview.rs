//! Delay by day and load by domain, as the page of the budget shows them.

use std::time::Duration;

use feed::{EntryKey, Item, Outcome, Published, Time};
use store::{NewEntry, PollRecord, SettingsChange, Store};

use crate::sample::{T0, add, fresh};

const DAY: u64 = 86_400;

/// Entries seen at `at`, each published so many seconds before.
fn see(store: &Store, feed: feed::FeedId, at: Time, delays: &[u64], first: u64) {
    let generation = store.poll_input(feed).unwrap().generation;
    let next = at + Duration::from_secs(3600);
    let mut record = PollRecord::empty(feed, generation, at, Outcome::Seen, next);
    for (number, delay) in (first..).zip(delays) {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&number.to_le_bytes());
        let published = at - Duration::from_secs(*delay);
        record.document_mut().entries.new.push(NewEntry {
            key: EntryKey::from_bytes(key),
            item: Item { title: Some(format!("{number}")), ..Item::default() },
            published: Published { claim: Some(published), at: published },
            content: 0,
            facts: store::EntryFacts::default(),
        });
    }
    store.record_blocking(record).unwrap();
}

#[test]
fn delay_is_the_mean_of_each_day_and_knows_what_was_there_before() {
    let fresh = fresh();
    let store = &fresh.store;
    let (start, feed) = (T0, add(store, "https://a.org/f"));
    // Published before the feed was added, so no poll is late.
    see(store, feed, start + Duration::from_secs(60), &[9_000_000], 0);
    see(store, feed, start + Duration::from_secs(3 * 3600), &[100, 300], 10);
    see(store, feed, start + Duration::from_secs(DAY + 7200), &[1000], 20);
    let now = start + Duration::from_secs(2 * DAY);
    let days = store.delay_days(now, 3).unwrap();
    let means: Vec<Option<u64>> = days.iter().map(|d| d.mean.map(|m| m.as_secs())).collect();
    assert_eq!(means, [None, Some(200), Some(1000)]);
    assert_eq!(days[1].n, 2);
}

#[test]
fn busy_domains_come_first() {
    let fresh = fresh();
    let store = &fresh.store;
    let (now, slow) = (T0, add(store, "https://slow.org/f"));
    add(store, "https://b.slow.org/g");
    let busy = add(store, "https://busy.net/f");
    for (feed, hours) in [(slow, 24), (busy, 1)] {
        let next = now + Duration::from_secs(hours * 3600);
        let record = PollRecord::empty(feed, 0, now, Outcome::Unchanged, next);
        store.record_blocking(record).unwrap();
    }
    let loads = store.domain_loads(10).unwrap();
    let shown: Vec<(&str, u64, f64)> =
        loads.iter().map(|l| (l.domain.as_str(), l.feeds, l.polls_per_day)).collect();
    assert_eq!(shown, [("busy.net", 1, 24.0), ("slow.org", 2, 1.0)]);
    assert_eq!(store.domain_loads(1).unwrap().len(), 1);
    store.tag_feed(busy, &["resting".to_owned()], &[]).unwrap();
    let paused = SettingsChange { paused: Some(Some(true)), ..SettingsChange::default() };
    store.set_tag("resting", &paused).unwrap();
    let first = &store.domain_loads(10).unwrap()[0];
    assert_eq!(first.domain, "slow.org", "what a tag paused costs nobody a poll");
}
