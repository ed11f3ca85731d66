//! Nothing is lost: the program is killed at random moments of a cold start over a thousand feeds,
//! and started again. The test runs ten rounds on SQLite and four on PostgreSQL; `SOAK_ROUNDS=200`
//! takes an evening.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::database::SHORT_EXCHANGES;
use crate::documents::{opml, rss};
use crate::program::{Instance, eventually};
use crate::publisher::Publisher;
use crate::turns::turn;
use crate::wire::now;

pub(super) const FEEDS: usize = 1000;
pub(super) const ITEMS: usize = 10;
/// Feeds of one address are polled one at a time. Several addresses keep the program busy.
const ADDRESSES: u32 = 40;

/// After a kill, fewer feeds may be left than the drawn number of requests, and their sites may
/// wait. So a later kill comes at the latest so long after the last request.
const WAIT_MAX: Duration = Duration::from_secs(3);

pub(super) const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

pub(super) fn publisher() -> (Publisher, String) {
    let publisher = Publisher::start(ADDRESSES);
    let urls: Vec<String> = (0..FEEDS)
        .map(|feed| {
            let path = format!("/s{feed}");
            publisher.set(&path, rss(&format!("s{feed}"), ITEMS));
            let address = publisher.addresses[feed % publisher.addresses.len()];
            publisher.server.url(address, &path)
        })
        .collect();
    (publisher, opml(&urls))
}

/// The path of each feed with the number of its entries, as the program lists them.
fn kept(instance: &Instance) -> HashMap<String, u64> {
    let feeds = instance.feeds();
    assert_eq!(feeds.len(), FEEDS, "every feed is still subscribed");
    let path = |url: &str| url[url.rfind('/').unwrap()..].to_owned();
    feeds
        .iter()
        .map(|f| (path(f["url"].as_str().unwrap()), f["entries"].as_u64().unwrap()))
        .collect()
}

/// A small random generator, so that a round can be repeated by its number.
pub(super) fn chance(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Checks that every entry exists exactly once.
#[track_caller]
pub(super) fn complete(instance: &Instance, what: &str) {
    let entries = instance.entries();
    let distinct: HashSet<&str> = entries.iter().map(|e| e["link"].as_str().unwrap()).collect();
    assert_eq!(distinct.len(), FEEDS * ITEMS, "{what}: every entry is there");
    assert_eq!(entries.len(), distinct.len(), "{what}: every entry is there once");
    let ids: Vec<u64> = entries.iter().map(|e| e["id"].as_u64().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{what}: ids rise with the order of recording");
    let last = ids.last().copied();
    assert_eq!(last, Some((FEEDS * ITEMS) as u64), "{what}: the numbers have no holes");
}

/// Polls everything that is left. A feed with a conditional request must have its entries.
/// Otherwise a validator was stored ahead of them, and the next 304 would lose them permanently.
#[track_caller]
fn restart(instance: &Instance, publisher: &Publisher, round: u64) {
    let before = kept(instance);
    let partly: Vec<_> = before.iter().filter(|(_, n)| **n != 0 && **n != ITEMS as u64).collect();
    assert!(partly.is_empty(), "round {round}: feeds with some of their entries: {partly:?}");
    publisher.take_asked();
    let mut args = if round.is_multiple_of(2) {
        vec!["run", "--once"]
    } else {
        vec!["feed", "poll", "--all", "--json"]
    };
    args.extend(FREELY);
    instance.run(&args).ok();
    let asked = publisher.take_asked();
    for request in asked.iter().filter(|a| a.conditional) {
        let n = before.get(&request.path).copied().unwrap_or(0);
        assert_eq!(
            n, ITEMS as u64,
            "round {round}: {} has a validator but {n} entries",
            request.path
        );
    }
    complete(instance, &format!("round {round}"));
}

fn round(publisher: &Publisher, list: &str, round: u64) -> usize {
    let instance = Instance::with_config(SHORT_EXCHANGES);
    instance.import(list).ok();
    let mut n_before = 0;
    // Up to three kills before the program may finish. The moment is drawn as a number of requests.
    // So a kill hits the program at work on fast and slow machines, and sometimes after its work.
    for kill in 0..=chance(round) % 3 {
        publisher.take_asked();
        let draw = chance(round * 31 + kill);
        let (n_requests, then) = (draw % (FEEDS as u64 / 2), draw / 1000 % 40);
        let mut daemon = instance.daemon(&FREELY);
        let (mut n_asked, mut since) = (0, now());
        eventually("the moment of the kill", || {
            let n = publisher.n_asked();
            if n > n_asked {
                (n_asked, since) = (n, now());
            }
            let is_idle = kill > 0 && since.elapsed() > WAIT_MAX;
            (n >= n_requests as usize || is_idle).then_some(())
        });
        std::thread::sleep(Duration::from_millis(then));
        daemon.kill();
        n_before = instance.entries().len();
    }
    restart(&instance, publisher, round);
    n_before
}

#[test]
fn soak_killed_at_any_moment_nothing_is_lost_and_no_validator_is_ahead() {
    let _turn = turn();
    let usual = if store::testing::is_postgres() { 4 } else { 10 };
    let rounds = std::env::var("SOAK_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let (publisher, list) = publisher();
    let mut moments = Vec::new();
    for number in 0..rounds {
        let n = round(&publisher, &list, number);
        eprintln!("round {number}: killed with {n} of {} entries", FEEDS * ITEMS);
        moments.push(n);
    }
    let midway = moments.iter().filter(|n| (1..FEEDS * ITEMS).contains(*n)).count();
    assert!(midway * 4 >= moments.len(), "few kills hit the program at work: {moments:?}");
}

#[test]
fn soak_a_stop_by_signal_is_clean_and_loses_nothing() {
    let _turn = turn();
    let (publisher, list) = publisher();
    for (number, signal) in [(1, "TERM"), (2, "INT")] {
        let instance = Instance::new();
        instance.import(&list).ok();
        let mut daemon = instance.daemon(&FREELY).ready();
        std::thread::sleep(Duration::from_millis(300));
        let status = daemon.signal(signal);
        assert_eq!(status.code(), Some(0), "SIG{signal}: {}", daemon.log());
        restart(&instance, &publisher, number);
    }
}
