//! Measures page and API with a million entries, with and without polls being recorded: `cargo run
//! --release -p api --example load -- [ENTRIES] [SECONDS] [FOLDER]`. With a folder the store is
//! kept there and used again. With `TIDINGS_TEST_STORE` the store is on that PostgreSQL server, in
//! a schema that belongs to the folder.
//!
//! With `LOAD_ARTICLES=10` ten in a hundred entries get an article of 600 words after the first
//! measurement, and articles arrive in the busy half of the next ones.
//!
//! Ten people ask first. With `LOAD_PEOPLE=10000` so many people ask afterwards, each with 200
//! subscriptions, also while the figures of all of them are calculated. Nothing that belongs to
//! people may change while polls are recorded and nobody asks.
//!
//! Requests start at fixed times, even if earlier ones have no answer yet. Their time counts from
//! the moment they should have started, so that a stalled server cannot hide it.

mod articles;
mod ask;
mod crowd;
mod fill;

use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use api::{EngineState, ServerContext};
use crowd::CrowdPerson;
use feed::{EntryId, FeedId, Outcome, Time};
use store::{OpenMode, PollRecord, Store};
use tokio::net::TcpListener;

/// The limits of the measured times.
const P99_MAX: Duration = Duration::from_millis(50);
const REQUESTS_PER_SECOND: u32 = 200;
const POLLS_PER_SECOND: u32 = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let n_entries: u32 = arguments.next().map_or(Ok(1_000_000), |n| n.parse())?;
    let seconds: u64 = arguments.next().map_or(Ok(20), |n| n.parse())?;
    let kept = arguments.next().map(PathBuf::from);
    let temporary = tempfile::tempdir()?;
    let folder = kept.unwrap_or_else(|| temporary.path().to_path_buf());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(&folder, n_entries, Duration::from_secs(seconds)))
}

async fn measure(
    folder: &std::path::Path,
    n_entries: u32,
    lasts: Duration,
) -> Result<(), Box<dyn Error>> {
    let name = if store::testing::is_postgres() { "PostgreSQL" } else { "SQLite" };
    println!("page and API on {name}");
    let store = Store::open(store::testing::location(folder), OpenMode::ReadWrite)?;
    let mut people = fill::fill(&store, n_entries).await?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let started = begin();
    let now = Arc::new(move || fill::NOW + started.elapsed());
    let context = ServerContext::new(store.clone(), now, Arc::new(live), "load")?;
    let server = tokio::spawn(api::serve(listener, api::router(context), async {
        // A dropped sender means the same.
        let _ = stopped.await;
    }));
    let sql = "select feed, min(id) from entries group by feed";
    let entry = |(feed, entry)| Some((FeedId(u32::try_from(feed).ok()?), EntryId(entry)));
    let entries: HashMap<FeedId, EntryId> =
        store::testing::pairs(&store, sql).into_iter().filter_map(entry).collect();
    let plan = |people: &[CrowdPerson]| {
        let (people, entries) = (people.to_vec(), entries.clone());
        Arc::new(ask::Plan { address, people, entries, per_second: REQUESTS_PER_SECOND })
    };
    let mut p99 = idle_and_busy(&store, &plan(&people), lasts, false).await?;
    let wanted = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>()).transpose();
    let has_articles = if let Some(percent) = wanted("LOAD_ARTICLES")? {
        articles::fill(&store, percent).await?;
        let with = idle_and_busy(&store, &plan(&people), lasts, true).await?;
        println!("busy p99 {p99:.1?} without articles, {with:.1?} with articles of {percent} %");
        p99 = p99.max(with);
        true
    } else {
        false
    };
    if let Some(n_people) = wanted("LOAD_PEOPLE")? {
        let n_people = u32::try_from(n_people)?;
        people.extend(fill::crowd(&store, n_entries, n_people)?);
        let plan = plan(&people);
        p99 = p99.max(idle_and_busy(&store, &plan, lasts, has_articles).await?);
        ask::report("rare pages", &ask::run(&plan, ask::rare, lasts / 4).await?);
        figures(&store, &plan).await?;
        only_polls(&store, lasts / 4).await?;
    }
    // Fails if the server has ended already.
    let _ = stop.send(());
    server.await??;
    if p99 > P99_MAX {
        return Err(format!("p99 is {p99:.1?}, more than {P99_MAX:?}").into());
    }
    Ok(())
}

/// Returns the p99 while polls are recorded, and articles if `has_articles`.
async fn idle_and_busy(
    store: &Store,
    plan: &Arc<ask::Plan>,
    lasts: Duration,
    has_articles: bool,
) -> Result<Duration, Box<dyn Error>> {
    // The first reads come from the disk and are not measured.
    ask::run(plan, ask::usual, Duration::from_secs(3)).await?;
    let idle = ask::run(plan, ask::usual, lasts).await?;
    ask::report(&format!("idle, {} people", plan.people.len()), &idle);
    let (going, n_polls) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU64::new(0)));
    let polls = tokio::spawn(poll(store.clone(), Arc::clone(&going), Arc::clone(&n_polls)));
    let n_articles: Arc<AtomicU64> = Arc::default();
    let pages = has_articles.then(|| {
        tokio::spawn(articles::arrive(store.clone(), Arc::clone(&going), Arc::clone(&n_articles)))
    });
    let busy = ask::run(plan, ask::usual, lasts).await;
    going.store(false, Ordering::Relaxed);
    polls.await??;
    if let Some(pages) = pages {
        pages.await??;
    }
    let busy = busy?;
    let per_second = |n: &AtomicU64| n.load(Ordering::Relaxed) as f64 / lasts.as_secs_f64();
    let (rate, pages, people) = (per_second(&n_polls), per_second(&n_articles), plan.people.len());
    let when = format!("while {rate:.0} polls/s and {pages:.0} articles/s are recorded");
    ask::report(&format!("{when}, {people} people"), &busy);
    let (before, after) = (ask::p99(&idle), ask::p99(&busy));
    let ratio = after.as_secs_f64() / before.as_secs_f64();
    println!("p99 {before:.1?} idle, {after:.1?} busy: {ratio:.1} times");
    Ok(after)
}

/// Measures requests while the readers of all feeds and the figures behind suggestions are
/// calculated, as the engine does once an hour.
async fn figures(store: &Store, plan: &Arc<ask::Plan>) -> Result<(), Box<dyn Error>> {
    let store = store.clone();
    let started = begin();
    let mut work = tokio::task::spawn_blocking(move || {
        store.count_readers(fill::NOW - Duration::from_secs(30 * 86_400))?;
        let counted = started.elapsed();
        engine::calculate_figures(&store, true, fill::NOW)?;
        Ok::<_, store::StoreError>((counted, started.elapsed()))
    });
    let mut taken = Vec::new();
    let (counted, calculated) = loop {
        taken.extend(ask::run(plan, ask::usual, Duration::from_secs(2)).await?);
        if work.is_finished() {
            break (&mut work).await??;
        }
    };
    let when =
        format!("while figures are calculated (readers {counted:.1?}, all {calculated:.1?})");
    ask::report(&when, &taken);
    Ok(())
}

/// Records polls while nobody asks, and fails if a row that belongs to people changes.
async fn only_polls(store: &Store, lasts: Duration) -> Result<(), Box<dyn Error>> {
    let before = store::testing::rows_of_accounts(store);
    let (going, n_polls) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU64::new(0)));
    let polls = tokio::spawn(poll(store.clone(), Arc::clone(&going), Arc::clone(&n_polls)));
    tokio::time::sleep(lasts).await;
    going.store(false, Ordering::Relaxed);
    polls.await??;
    let after = store::testing::rows_of_accounts(store);
    println!("\nafter {} polls alone, rows of people: {after:?}", n_polls.load(Ordering::Relaxed));
    if before == after {
        return Ok(());
    }
    Err(format!("polls changed rows of people, which were {before:?}").into())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the wall clock")]
pub fn begin() -> Instant {
    Instant::now()
}

/// Records polls at an even pace: most find nothing, and one in ten finds two entries. The words
/// are indexed afterwards.
async fn poll(
    store: Store,
    going: Arc<AtomicBool>,
    n_polls: Arc<AtomicU64>,
) -> Result<(), store::StoreError> {
    let indexing = tokio::spawn(fill::keep_indexed(store.clone(), Arc::clone(&going)));
    let feeds = fill::feeds(&store)?;
    let mut generations = feeds;
    // The numbers behind the keys of entries. Earlier polls used those below.
    let first_number = u64::MAX / 2 + store.last_entry_id()?.0.unsigned_abs() * 4;
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / POLLS_PER_SECOND);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
    let mut running = tokio::task::JoinSet::new();
    let mut n = 0_u64;
    while going.load(Ordering::Relaxed) {
        ticks.tick().await;
        n += 1;
        let place = fill::mixed(n) as usize % generations.len();
        let (feed, generation): &mut (FeedId, u32) = &mut generations[place];
        let at = fill::NOW + Duration::from_millis(n * 2);
        let outcome = if n.is_multiple_of(10) { Outcome::Seen } else { Outcome::Unchanged };
        let next_at = at + fill::UNTIL_NEXT;
        let mut record = PollRecord::empty(*feed, *generation, at, outcome, next_at);
        *generation += 1;
        if outcome == Outcome::Seen {
            record.document_mut().entries.new =
                (0..2).map(|i| fill::entry(first_number + n * 2 + i, at)).collect();
        }
        let (store, n_polls) = (store.clone(), Arc::clone(&n_polls));
        running.spawn(async move {
            let recorded = store.record(record).await;
            n_polls.fetch_add(1, Ordering::Relaxed);
            recorded
        });
        while let Some(done) = running.try_join_next() {
            // A second record of a feed that was polled twice at once is refused.
            let _ = done;
        }
    }
    while running.join_next().await.is_some() {}
    // The task ends with the flag.
    let _ = indexing.await;
    Ok(())
}

fn live() -> EngineState {
    EngineState {
        not_ready: None,
        polls_elsewhere: false,
        demo: false,
        started_at: Time::from_secs(0),
        in_flight: 0,
        waiting: 0,
        outage: None,
        lacking_regions: Vec::new(),
        polls_total: 0,
        polls_failed_total: 0,
        polls_last_hour: 0,
        entries_total: 0,
        bytes_total: 0,
    }
}
