//! Measures the cost of matching inside the transaction that records a poll. One run prints the
//! recorded entries a second without queries and with ten thousand, and the ratio.
//!
//! `cargo run --release -p engine --example recording [QUERIES] [POLLS]`
//!
//! Words, entries of 1.5 KB and queries are those of `query`'s own measurement; a poll brings ten
//! entries, and 64 are under way at once. The disk is that of the temporary folder.

#[path = "../../query/examples/matching/words.rs"]
#[expect(dead_code, reason = "the texts of a folder are not measured here")]
mod words;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dispatch::command::{Command, QueriesCommand};
use engine::command::carry_out;
use engine::{Clock, Engine, Settings, Watch};
use feed::{EntryKey, FeedId, FeedUrl, Item, Outcome, Published, Time};
use fetch::Fetcher;
use store::{NewEntry, NewFeed, OpenMode, PollRecord, Store, StoreError};
use tokio::task::JoinSet;
use words::{Chance, entry_text, statement, vocabulary};

const T0: Time = Time::from_secs(1_700_000_000);
const ENTRIES_PER_POLL: usize = 10;
const IN_FLIGHT: usize = 64;
const FEEDS: u32 = 500;
/// The two are measured in turn, so that a busy moment of the machine does not hit one of them.
const ROUNDS: u32 = 3;

type Outcomes = Result<(), Box<dyn std::error::Error>>;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Outcomes {
    let argument = |n: usize, or: usize| std::env::args().nth(n).map_or(Ok(or), |t| t.parse());
    let (n_queries, n_polls) = (argument(1, 10_000)?, argument(2, 2000)?);
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let words = vocabulary(&mut chance);
    let texts: Vec<String> = (0..4000).map(|_| entry_text(&words, &mut chance)).collect();
    let texts = Arc::new(texts);
    let file: Vec<String> = (0..n_queries).map(|i| statement(i, &words, &mut chance)).collect();

    let (bare, asked) = (House::new(None).await?, House::new(Some(file.join(";\n"))).await?);
    let (mut without, mut with) = (0.0, 0.0);
    for round in 0..ROUNDS {
        without += bare.record(&texts, round, n_polls).await?;
        with += asked.record(&texts, round, n_polls).await?;
    }
    let rounds = f64::from(ROUNDS);
    let kept: i64 = asked.engine.store.queries()?.iter().map(|row| row.last_position).sum();
    println!("recording without queries: {:.0} entries/s", without / rounds);
    println!("recording with {n_queries} queries: {:.0} entries/s", with / rounds);
    println!("ratio {:.2}; {kept} matches were kept with them", with / without);
    Ok(())
}

struct House {
    engine: Engine,
    _folder: tempfile::TempDir,
}

impl House {
    async fn new(queries: Option<String>) -> Result<House, Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let store = Store::open(folder.path(), OpenMode::ReadWrite)?;
        let fetcher = Fetcher::new(fetch::Settings::new("https://example.org/about"))?;
        let clock = Clock::manual(T0);
        let engine = Engine::start(store, fetcher, clock, Settings::new(), Watch::OnRequest)?;
        for n in 0..FEEDS {
            let url = FeedUrl::parse(&format!("https://example.org/{n}"))?;
            let new = NewFeed { url, title: None, site: None, tags: Vec::new() };
            engine.store.add_feed(&new, T0)?;
        }
        if let Some(text) = queries {
            let wish =
                QueriesCommand::Apply { file: "bench".to_owned(), text, past: None, account: None };
            carry_out(&engine, Command::Query { wish }, &|_, _| ()).await?;
        }
        Ok(House { engine, _folder: folder })
    }

    /// Records so many polls; entries a second.
    async fn record(
        &self,
        texts: &Arc<Vec<String>>,
        round: u32,
        n_polls: usize,
    ) -> Result<f64, Box<dyn std::error::Error>> {
        let start = begin();
        let mut running: JoinSet<Result<(), StoreError>> = JoinSet::new();
        for n in 0..n_polls {
            // Polls of one feed follow each other; those of different feeds run at once.
            let feed = FeedId(u32::try_from(n)? % FEEDS + 1);
            if running.len() >= IN_FLIGHT
                && let Some(done) = running.join_next().await
            {
                done??;
            }
            let (store, texts) = (self.engine.store.clone(), Arc::clone(texts));
            running.spawn(async move {
                let generation = store.poll_input(feed)?.generation;
                store.record(poll(feed, generation, &texts, round, n)).await.map(|_| ())
            });
        }
        while let Some(done) = running.join_next().await {
            done??;
        }
        let elapsed = start.elapsed().as_secs_f64();
        Ok((n_polls * ENTRIES_PER_POLL) as f64 / elapsed)
    }
}

/// A poll that brings entries nobody has seen.
fn poll(feed: FeedId, generation: u32, texts: &[String], round: u32, n: usize) -> PollRecord {
    let at = T0 + Duration::from_secs(n as u64);
    let mut record = PollRecord::empty(feed, generation, at, Outcome::Seen, at);
    for i in 0..ENTRIES_PER_POLL {
        let number = n * ENTRIES_PER_POLL + i;
        let mut key = [0; 16];
        key[..8].copy_from_slice(&(number as u64).to_le_bytes());
        key[8..12].copy_from_slice(&round.to_le_bytes());
        let content = texts[number % texts.len()].clone();
        let item = Item { content: Some(content), ..Item::default() };
        let published = Published { claim: None, at };
        record.document_mut().entries.new.push(NewEntry {
            key: EntryKey::from_bytes(key),
            item,
            published,
            content: 0,
            facts: store::EntryFacts::default(),
        });
    }
    record
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the wall clock")]
fn begin() -> Instant {
    Instant::now()
}
