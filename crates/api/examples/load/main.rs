//! Measures page and API with a million entries, with and without polls being recorded: `cargo run
//! --release -p api --example load -- [ENTRIES] [SECONDS] [FOLDER]`. With a folder the store is
//! kept there and used again. With `TIDINGS_TEST_STORE` the store is on that PostgreSQL server, in
//! a schema that belongs to the folder.
//!
//! Requests start at fixed times, even if earlier ones have no answer yet. Their time counts from
//! the moment they should have started, so that a stalled server cannot hide it.

mod ask;
mod fill;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use api::{EngineState, ServerContext};
use feed::{FeedId, Outcome, Time};
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
    let tokens = fill::fill(&store, n_entries).await?;
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
    // The first reads come from the disk and are not measured.
    let plan = ask::Plan { address, tokens, n_entries, per_second: REQUESTS_PER_SECOND };
    ask::run(&plan, Duration::from_secs(3)).await;
    let idle = ask::run(&plan, lasts).await;
    ask::report("idle", &idle);

    let (going, n_polls) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU64::new(0)));
    let polls = tokio::spawn(poll(store, Arc::clone(&going), Arc::clone(&n_polls)));
    let busy = ask::run(&plan, lasts).await;
    going.store(false, Ordering::Relaxed);
    polls.await??;
    let rate = n_polls.load(Ordering::Relaxed) as f64 / lasts.as_secs_f64();
    ask::report(&format!("while {rate:.0} polls/s are recorded"), &busy);

    let (before, after) = (ask::p99(&idle), ask::p99(&busy));
    let ratio = after.as_secs_f64() / before.as_secs_f64();
    println!("p99 {before:.1?} idle, {after:.1?} busy: {ratio:.1} times");
    // Fails if the server has ended already.
    let _ = stop.send(());
    server.await??;
    if after > P99_MAX {
        return Err(format!("p99 is {after:.1?}, more than {P99_MAX:?}").into());
    }
    Ok(())
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
        let mut record = PollRecord::empty(*feed, *generation, at, outcome, at);
        *generation += 1;
        if outcome == Outcome::Seen {
            record.document_mut().entries.new =
                (0..2).map(|i| fill::entry(u64::MAX / 2 + n * 2 + i, at)).collect();
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
