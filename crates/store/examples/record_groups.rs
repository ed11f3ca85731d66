//! Measures how fast polls are recorded in groups of 1, 50 and 200, on SQLite and on PostgreSQL in
//! the same run. One poll in ten brings two entries of 1.5 KB; each updates the learned state. Then
//! it measures the processor time of 500 polls a second that come one by one.
//!
//! `cargo run --release -p xtask -- postgres --durable \
//!    cargo run --release -p store --example record_groups [FEEDS] [POLLS] [ROUNDS] [SIZE]`
//!
//! Without `TIDINGS_TEST_STORE`, SQLite is measured alone. The processor time of PostgreSQL is that
//! of the children of the process `TIDINGS_TEST_SERVER`. Both databases sync every commit.

use std::time::{Duration, Instant};

use feed::{EntryKey, FeedId, FeedUrl, Item, Outcome, Published, Time, Window};
use store::{
    ArrivedEntry, EntryMatcher, Location, NewEntry, NewFeed, NewQuery, OpenMode, PollRecord,
    QueryChange, QueryId, QueryMatch, QueryStateChange, RelevantShare, Store, StoredPace,
    StoredValidators,
};

const T0: Time = Time::from_secs(1_700_000_000);
const SIZES: [u32; 3] = [1, 50, 200];
const WINDOW: usize = 20;
const QUERIES: u32 = 20;
/// The pace of a busy instance, and how long it is measured.
const POLLS_PER_SECOND: u32 = 500;
const PACE_SECONDS: u32 = 5;

type Done<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Done<()> {
    let argument = |n: usize, or: u32| std::env::args().nth(n).map_or(Ok(or), |text| text.parse());
    let (n_feeds, n_polls, rounds) = (argument(1, 2000)?, argument(2, 10_000)?, argument(3, 3)?);
    let folder = tempfile::tempdir()?;
    let mut houses = vec![House::new("SQLite", Location::Folder(folder.path().into()), n_feeds)?];
    if store::testing::is_postgres() {
        let location = store::testing::location(folder.path());
        houses.push(House::new("PostgreSQL", location, n_feeds)?);
    }
    println!("{n_feeds} feeds; {rounds} rounds of {n_polls} polls (groups of 1: a fifth)");
    let only = argument(4, 0)?;
    for size in SIZES.into_iter().filter(|size| only == 0 || *size == only) {
        let n = if size == 1 { n_polls / 5 } else { n_polls };
        let mut spent = vec![(Duration::ZERO, Cpu::default()); houses.len()];
        for _ in 0..rounds {
            // In turn, so that a busy moment of the machine does not hit one of them.
            for (house, spent) in houses.iter_mut().zip(&mut spent) {
                let (wall, cpu) = house.measure(size, n)?;
                *spent = (spent.0 + wall, spent.1 + cpu);
            }
        }
        report(size, n * rounds, &houses, &spent);
    }
    for house in &mut houses {
        let share = |ms: u64| ms as f64 / (f64::from(PACE_SECONDS) * 10.0);
        // The clock and the records cost something too.
        let idle = house.measure_pace(false)?;
        let cpu = house.measure_pace(true)?;
        println!(
            "{}, {POLLS_PER_SECOND} polls/s one by one: {:.1} + {:.1} % of a core (own + server)",
            house.name,
            share(cpu.own_ms.saturating_sub(idle.own_ms)),
            share(cpu.server_ms.saturating_sub(idle.server_ms)),
        );
    }
    Ok(())
}

fn report(size: u32, n: u32, houses: &[House], spent: &[(Duration, Cpu)]) {
    let rate = |(wall, _): &(Duration, Cpu)| f64::from(n) / wall.as_secs_f64();
    for (house, spent) in houses.iter().zip(spent) {
        let each = |ms: u64| ms as f64 * 1000.0 / f64::from(n);
        println!(
            "{}, groups of {size}: {:.0} polls/s, {:.0} + {:.0} µs CPU each (own + server)",
            house.name,
            rate(spent),
            each(spent.1.own_ms),
            each(spent.1.server_ms)
        );
    }
    if let [sqlite, postgres] = spent {
        println!("ratio PostgreSQL to SQLite: {:.2}", rate(postgres) / rate(sqlite));
    }
}

/// A store, and the state of its feeds as the polls left them.
struct House {
    name: &'static str,
    store: Store,
    feeds: Vec<FeedNow>,
    runtime: tokio::runtime::Runtime,
    n_recorded: u32,
    n_entries: u64,
}

struct FeedNow {
    id: FeedId,
    generation: u32,
    window: Vec<EntryKey>,
    domain: feed::Domain,
}

impl House {
    fn new(name: &'static str, location: Location, n_feeds: u32) -> Done<House> {
        let store = Store::open(location, OpenMode::ReadWrite)?;
        let mut new = Vec::new();
        for i in 0..n_feeds {
            let url = FeedUrl::parse(&format!("https://b{i}.example{}.org/atom", i % 400))?;
            new.push(NewFeed { url, title: None, site: None, tags: vec!["all".into()] });
        }
        store.add_feeds(&new, T0)?;
        store.install(Box::<NumberMatcher>::default())?;
        let queries = (0..QUERIES).map(|n| {
            QueryChange::Put(NewQuery {
                name: format!("q{n}"),
                text: n.to_string(),
                urls: Vec::new(),
                receivers: vec!["page".to_owned()],
                scope: store::QueryScope::default(),
                link_key: "link".to_owned(),
                signing_key: "sign".to_owned(),
            })
        });
        store.change_queries(queries.collect(), None, T0)?;
        let index = store.due_index()?;
        let feeds = index.due.iter().zip(&new).map(|(due, new)| FeedNow {
            id: due.feed,
            generation: due.generation,
            window: Vec::new(),
            domain: new.url.domain(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let feeds = feeds.collect();
        let mut house = House { name, store, feeds, runtime, n_recorded: 0, n_entries: 0 };
        for first in (0..n_feeds as usize).collect::<Vec<_>>().chunks(100) {
            let records = first.iter().map(|place| house.poll(*place, WINDOW)).collect();
            house.record(records)?;
        }
        Ok(house)
    }

    /// Records so many polls in groups; returns the time that they took, and the processor time.
    fn measure(&mut self, size: u32, n_polls: u32) -> Done<(Duration, Cpu)> {
        let n_groups = n_polls / size;
        let (mut wall, before) = (Duration::ZERO, self.cpu());
        for _ in 0..n_groups {
            let records: Vec<PollRecord> = (0..size).map(|_| self.next_poll()).collect();
            let started = begin();
            self.record(records)?;
            wall += started.elapsed();
        }
        Ok((wall, self.cpu() - before))
    }

    /// Records polls that come one by one at a pace, as those of an engine do, or only makes them;
    /// returns the processor time.
    fn measure_pace(&mut self, is_recorded: bool) -> Done<Cpu> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
        let before = self.cpu();
        runtime.block_on(async {
            let mut ticks = tokio::time::interval(Duration::from_secs(1) / POLLS_PER_SECOND);
            let mut running = tokio::task::JoinSet::new();
            for _ in 0..POLLS_PER_SECOND * PACE_SECONDS {
                ticks.tick().await;
                let store = self.store.clone();
                let record = if is_recorded { self.next_poll() } else { self.made_up() };
                running.spawn(async move {
                    match is_recorded {
                        true => store.record(record).await.map(|_| ()),
                        false => Ok(()),
                    }
                });
            }
            while let Some(done) = running.join_next().await {
                done??;
            }
            Done::Ok(())
        })?;
        Ok(self.cpu() - before)
    }

    /// The processor time that this process and the server of the store have used.
    fn cpu(&self) -> Cpu {
        cpu(matches!(self.store.location(), Location::Postgres(_)))
    }

    /// Records a group. A single poll does not wait for others.
    fn record(&self, mut records: Vec<PollRecord>) -> Done<()> {
        if records.len() == 1
            && let Some(record) = records.pop()
        {
            self.store.record_blocking(record)?;
            return Ok(());
        }
        self.runtime.block_on(async {
            // The first poll of each future sends its record, so the writer gets all at once.
            let all = records.into_iter().map(|record| self.store.record(record));
            futures_util::future::try_join_all(all).await
        })?;
        Ok(())
    }

    /// A poll that is not recorded.
    fn made_up(&mut self) -> PollRecord {
        let generation = self.feeds[0].generation;
        let record = self.poll(0, 0);
        self.feeds[0].generation = generation;
        record
    }

    fn next_poll(&mut self) -> PollRecord {
        self.n_recorded += 1;
        let mixed = u64::from(self.n_recorded) * 2_654_435_761 % self.feeds.len() as u64;
        let n_new = if self.n_recorded.is_multiple_of(10) { 2 } else { 0 };
        self.poll(usize::try_from(mixed).unwrap_or(0), n_new)
    }

    fn poll(&mut self, place: usize, n_new: usize) -> PollRecord {
        let feed = &mut self.feeds[place];
        let at = T0 + Duration::from_secs(u64::from(self.n_recorded) + 1);
        let outcome = if n_new == 0 { Outcome::Unchanged } else { Outcome::Seen };
        let wait = Duration::from_secs(3600 + u64::from(self.n_recorded % 1000));
        let mut record = PollRecord::empty(feed.id, feed.generation, at, outcome, at + wait);
        feed.generation += 1;
        record.exchange.status = Some(if n_new == 0 { 304 } else { 200 });
        record.exchange.paces = vec![StoredPace {
            domain: feed.domain.clone(),
            last_request_at: Some(at),
            not_before: None,
            reason: None,
        }];
        record.decision.next.wanted_at = Some(at + wait);
        record.decision.next.why.reason = Some("the mean gap of 20 entries is 3 h".to_owned());
        record.decision.learned = Some(at.millis().to_le_bytes().repeat(25));
        if n_new == 0 {
            return record;
        }
        let document = record.document_mut();
        document.validators = StoredValidators { etag: Some(vec![7; 20]), ..Default::default() };
        document.facts.title = Some(format!("feed {}", feed.id));
        for _ in 0..n_new {
            self.n_entries += 1;
            let key = EntryKey::from_bytes((u128::from(self.n_entries) << 32).to_le_bytes());
            feed.window.insert(0, key);
            let item = Item {
                id: Some(format!("https://example.org/{}", self.n_entries)),
                title: Some(format!("entry {}", self.n_entries)),
                link: Some(format!("https://example.org/{}", self.n_entries)),
                content: Some("some words of a text ".repeat(70)),
                ..Item::default()
            };
            let published = Published { claim: Some(at), at };
            document.entries.new.push(NewEntry {
                key,
                item,
                published,
                content: self.n_entries,
                facts: store::EntryFacts::default(),
            });
        }
        feed.window.truncate(WINDOW);
        document.entries.window = window(&feed.window);
        record
    }
}

/// A window with these keys, made from its stored form.
fn window(keys: &[EntryKey]) -> Option<Window> {
    let mut bytes = vec![1, 0];
    for key in keys {
        bytes.extend(key.bytes());
        bytes.extend([0; 24]);
    }
    Window::decode(&bytes).ok()
}

/// Matches every second entry with one query, and remembers one state record for it.
#[derive(Default)]
struct NumberMatcher {
    queries: Vec<QueryId>,
    changes: Vec<QueryStateChange>,
}

impl EntryMatcher for NumberMatcher {
    fn fresh(&self) -> Box<dyn EntryMatcher> {
        Box::<NumberMatcher>::default()
    }

    fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    fn clear(&mut self) {
        self.queries.clear();
    }

    fn put(&mut self, query: QueryId, _: &str, _: &str, _: &[(u64, Vec<u8>)]) -> Vec<u64> {
        self.queries.push(query);
        Vec::new()
    }

    fn remove_query(&mut self, query: QueryId) {
        self.queries.retain(|other| *other != query);
    }

    fn reads(&self, _: &str, _: &[String]) -> bool {
        true
    }

    fn match_entry(&mut self, entry: &ArrivedEntry<'_>) -> Vec<QueryMatch> {
        if entry.id.0 % 2 == 0 || self.queries.is_empty() {
            return Vec::new();
        }
        let number = entry.id.0.unsigned_abs();
        let place = usize::try_from(number).unwrap_or(0) / 2 % self.queries.len();
        let query = self.queries[place];
        let bytes = entry.id.0.to_le_bytes().to_vec();
        self.changes.push(QueryStateChange::Remember { query, number: number % 8, bytes });
        vec![QueryMatch { query, partner: None }]
    }

    fn take_changes(&mut self) -> Vec<QueryStateChange> {
        std::mem::take(&mut self.changes)
    }

    fn decayed_share(&self, before: RelevantShare, n_seen: u32, n_kept: u32) -> RelevantShare {
        RelevantShare {
            seen: before.seen * 0.9 + f64::from(n_seen),
            kept: before.kept * 0.9 + f64::from(n_kept),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the wall clock")]
fn begin() -> Instant {
    Instant::now()
}

/// Processor times in milliseconds.
#[derive(Clone, Copy, Default)]
struct Cpu {
    own_ms: u64,
    server_ms: u64,
}

impl std::ops::Add for Cpu {
    type Output = Cpu;

    fn add(self, other: Cpu) -> Cpu {
        let (own_ms, server_ms) = (self.own_ms + other.own_ms, self.server_ms + other.server_ms);
        Cpu { own_ms, server_ms }
    }
}

impl std::ops::Sub for Cpu {
    type Output = Cpu;

    fn sub(self, other: Cpu) -> Cpu {
        Cpu {
            own_ms: self.own_ms.saturating_sub(other.own_ms),
            server_ms: self.server_ms.saturating_sub(other.server_ms),
        }
    }
}

/// The processor time of this process and, if wanted, of the children of the database server. It
/// comes from /proc, in ticks of 10 ms; 0 where there is none.
fn cpu(with_server: bool) -> Cpu {
    let server: Option<u64> =
        std::env::var("TIDINGS_TEST_SERVER").ok().and_then(|id| id.trim().parse().ok());
    let server = server.filter(|_| with_server);
    let own = u64::from(std::process::id());
    let mut spent = Cpu::default();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u64>().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
        let field = |n: usize| fields.get(n).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
        if id == own {
            spent.own_ms += (field(11) + field(12)) * 10;
        }
        if Some(field(1)) == server {
            spent.server_ms += (field(11) + field(12)) * 10;
        }
        if Some(id) == server {
            // The server counts the time of children that have ended.
            spent.server_ms += (field(13) + field(14)) * 10;
        }
    }
    spent
}
