//! Measures how fast polls are recorded, and the size of a store with many feeds.
//!
//! `cargo run --release -p store --example record_speed [FEEDS] [POLLS]`

use std::path::Path;
use std::time::{Duration, Instant};

use feed::{FeedId, FeedUrl, Outcome, Time};
use store::{NewFeed, OpenMode, PollRecord, Store, StoredPace};

/// Polls in flight, as many as there are workers.
const IN_FLIGHT: usize = 64;
const T0: Time = Time::from_secs(1_700_000_000);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = |n: usize, or: u32| std::env::args().nth(n).map_or(Ok(or), |text| text.parse());
    let (n_feeds, n_polls) = (argument(1, 10_000)?, argument(2, 50_000)?);
    let folder = tempfile::tempdir()?;

    let started = begin();
    let store = Store::open(folder.path(), OpenMode::ReadWrite)?;
    add_feeds(&store, n_feeds)?;
    report("add feeds", n_feeds, &started);
    println!("resident {} KB", resident_kb());

    for round in ["first", "second"] {
        let started = begin();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
        runtime.block_on(record_all(&store, n_feeds, n_polls, round == "second"))?;
        report(&format!("record unchanged, {round} round"), n_polls, &started);
    }
    let started = begin();
    for n in 0..n_polls {
        store.poll_input(FeedId(spread(n, n_feeds)))?;
    }
    report("poll_input", n_polls, &started);
    println!("resident {} KB, file {} KB", resident_kb(), size_kb(store.path()));

    let started = begin();
    let counts = store.counts(T0)?;
    report("counts", 1, &started);
    println!("{counts:?}");
    drop(store);

    let before = resident_kb();
    let started = begin();
    let store = Store::open(folder.path(), OpenMode::ReadWrite)?;
    let index = store.due_index()?;
    report("open and due_index", n_feeds, &started);
    println!(
        "{} due at {} domains; resident {} KB more",
        index.due.len(),
        index.domains.len(),
        resident_kb().saturating_sub(before)
    );
    Ok(())
}

fn add_feeds(store: &Store, n: u32) -> Result<(), Box<dyn std::error::Error>> {
    let mut new = Vec::new();
    for i in 0..n {
        let url = format!("https://blog{i}.example{}.org/feeds/{i}/atom.xml", i % (n / 10 + 1));
        new.push(NewFeed {
            url: FeedUrl::parse(&url)?,
            title: None,
            site: None,
            tags: vec!["all".into()],
        });
    }
    for some in new.chunks(10_000) {
        store.add_feeds(some, T0)?;
    }
    Ok(())
}

/// Returns feed numbers in mixed order, as a heap does.
fn spread(n: u32, n_feeds: u32) -> u32 {
    let mixed = u64::from(n) * 2_654_435_761 % u64::from(n_feeds);
    u32::try_from(mixed).unwrap_or(0) + 1
}

async fn record_all(
    store: &Store,
    n_feeds: u32,
    n_polls: u32,
    second: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let domains = store.due_index()?;
    let mut generations: Vec<u32> = domains.due.iter().map(|due| due.generation).collect();
    let mut running = tokio::task::JoinSet::new();
    for n in 0..n_polls {
        let place = spread(n, n_feeds) as usize - 1;
        let due = domains.due[place];
        let at = T0 + Duration::from_secs(u64::from(n) + if second { 1_000_000 } else { 0 });
        let mut record =
            PollRecord::empty(due.feed, generations[place], at, Outcome::Unchanged, at);
        generations[place] += 1;
        record.exchange.status = Some(304);
        record.decision.next.wanted_at = Some(at);
        record.decision.next.why.reason =
            Some("mavsync: the mean gap of 20 entries is 3 h 12 min".to_owned());
        record.observed.len = 20;
        record.observed.overlap = 20;
        record.exchange.paces = vec![StoredPace {
            domain: domains.domains[due.domain as usize].clone(),
            last_request_at: Some(at),
            not_before: None,
            reason: None,
        }];
        if running.len() >= IN_FLIGHT
            && let Some(done) = running.join_next().await
        {
            done??;
        }
        let store = store.clone();
        running.spawn(async move { store.record(record).await });
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    Ok(())
}

struct Started {
    wall: Instant,
    cpu_ms: u64,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the wall clock")]
fn begin() -> Started {
    Started { wall: Instant::now(), cpu_ms: cpu_ms() }
}

fn report(what: &str, n: u32, started: &Started) {
    let wall = started.wall.elapsed();
    let cpu_us = (cpu_ms() - started.cpu_ms) as f64 * 1000.0;
    println!(
        "{what}: {n} in {:.3} s, {:.0}/s, {:.1} µs CPU each",
        wall.as_secs_f64(),
        f64::from(n) / wall.as_secs_f64(),
        cpu_us / f64::from(n)
    );
}

/// User and system time of this process, from /proc (in ticks of 10 ms); 0 where there is none.
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or("");
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |n: usize| fields.get(n).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
    (ticks(11) + ticks(12)) * 10
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

fn size_kb(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |m| m.len() / 1024)
}
