//! Compares page times with a million feeds and with a thousand, in one run on one machine: `cargo
//! run --release -p api --example many_feeds -- [FEEDS] [FOLDER]`. With a folder the large store is
//! kept there and used again. The example fails if a page takes longer than 100 ms.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::{EngineState, ServerContext};
use axum::body::{Body, to_bytes};
use axum::http::Request;
use feed::{FeedId, FeedUrl, Outcome, Time};
use store::{NewFeed, OpenMode, PollRecord, Store, StoredPace};
use tower::ServiceExt;

const NOW: Time = Time::from_secs(1_700_000_000);
const FEW: u32 = 1000;
/// Feeds of one domain, as with a hosting service.
const FEEDS_OF_DOMAIN: u32 = 16;
/// The limit of a page.
const PAGE_MAX: Duration = Duration::from_millis(100);
/// Requests of each page; the median counts.
const ROUNDS: usize = 15;
/// Polls on their way to the store at once.
const IN_FLIGHT: usize = 512;
/// More than the largest page.
const PAGE_BYTES_MAX: usize = 1 << 22;

const PAGES: [&str; 9] = [
    "/feeds",
    "/feeds?sort=trouble",
    "/feeds?sort=title&state=active",
    "/feeds?sort=next",
    "/feeds?tag=tag+7",
    "/health",
    "/budget",
    "/metrics",
    "/feeds?sort=last&state=backing-off",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let n_feeds: u32 = arguments.next().map_or(Ok(1_000_000), |n| n.parse())?;
    let kept = arguments.next().map(PathBuf::from);
    let (few, many) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let folder = kept.as_deref().unwrap_or(many.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let few = runtime.block_on(measured(few.path(), FEW))?;
    let many = runtime.block_on(measured(folder, n_feeds))?;
    let mut slow = Vec::new();
    println!("{:<36} {FEW:>10} {n_feeds:>10}   ratio", "median of a page with so many feeds");
    for (page, (few, many)) in PAGES.iter().zip(few.into_iter().zip(many)) {
        let ratio = many.as_secs_f64() / few.as_secs_f64();
        let ms = |d: Duration| format!("{:.1} ms", d.as_secs_f64() * 1000.0);
        println!("{page:<36} {:>10} {:>10} {ratio:>7.1}", ms(few), ms(many));
        slow.extend((many > PAGE_MAX).then_some(*page));
    }
    if slow.is_empty() { Ok(()) } else { Err(format!("slower than {PAGE_MAX:?}: {slow:?}").into()) }
}

/// Returns the median time of each page with this many feeds.
async fn measured(folder: &Path, n_feeds: u32) -> Result<Vec<Duration>, Box<dyn Error>> {
    let store = Store::open(folder, OpenMode::ReadWrite)?;
    if store.feed_count()? < u64::from(n_feeds) {
        let started = begin();
        fill(&store, n_feeds).await?;
        println!("{n_feeds} feeds added and polled in {:.1?}", started.elapsed());
    }
    let now = Arc::new(|| NOW + Duration::from_secs(86_400));
    let router = api::router(ServerContext::new(store, now, Arc::new(live), "many-feeds")?);
    let mut medians = Vec::new();
    for page in PAGES {
        let mut taken = Vec::new();
        for _ in 0..ROUNDS {
            let request = Request::get(page).body(Body::empty())?;
            let started = begin();
            let answer = router.clone().oneshot(request).await?;
            let status = answer.status();
            let bytes = to_bytes(answer.into_body(), PAGE_BYTES_MAX).await?;
            taken.push(started.elapsed());
            if !status.is_success() || bytes.is_empty() {
                return Err(format!("{page} answered {status}").into());
            }
        }
        taken.sort_unstable();
        medians.push(taken[ROUNDS / 2]);
    }
    Ok(medians)
}

/// Adds feeds with titles and tags, and polls each once: one in twenty fails, and one in two
/// hundred is gone.
async fn fill(store: &Store, n_feeds: u32) -> Result<(), Box<dyn Error>> {
    let first = u32::try_from(store.feed_count()?)?;
    for start in (first..n_feeds).step_by(10_000) {
        let some: Vec<NewFeed> =
            (start..n_feeds.min(start + 10_000)).map(feed).collect::<Result<_, _>>()?;
        store.add_feeds(&some, NOW)?;
    }
    let mut running = tokio::task::JoinSet::new();
    for n in first..n_feeds {
        if running.len() >= IN_FLIGHT
            && let Some(done) = running.join_next().await
        {
            done??;
        }
        let (store, record) = (store.clone(), poll(n)?);
        running.spawn(async move { store.record(record).await });
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    Ok(())
}

fn address(n: u32) -> Result<FeedUrl, feed::AddressError> {
    FeedUrl::parse(&format!("https://s{}.example/{n}/feed.xml", n / FEEDS_OF_DOMAIN))
}

fn feed(n: u32) -> Result<NewFeed, feed::AddressError> {
    let title =
        Some(format!("Notes {:06} from a small place", n.wrapping_mul(2_654_435_761) >> 12));
    Ok(NewFeed { url: address(n)?, title, site: None, tags: vec![format!("tag {}", n % 200)] })
}

fn poll(n: u32) -> Result<PollRecord, feed::AddressError> {
    let at = NOW + Duration::from_secs(u64::from(n % 80_000));
    let outcome = match n {
        n if n.is_multiple_of(200) => Outcome::Gone,
        n if n.is_multiple_of(20) => Outcome::Failed,
        _ => Outcome::Unchanged,
    };
    let next = at + Duration::from_secs(600 + u64::from(n % 86_400));
    let mut record = PollRecord::empty(FeedId(n + 1), 0, at, outcome, next);
    match outcome {
        Outcome::Gone => {
            record.location.gone =
                Some(store::Gone { at, reason: "the server says 410".to_owned() });
        }
        Outcome::Failed => record.decision.failures = 1 + n % 7,
        _ => {}
    }
    record.decision.next.why.reason = Some("the mean gap of 20 entries is 3 h 12 min".to_owned());
    record.exchange.paces.push(StoredPace {
        domain: address(n)?.domain(),
        last_request_at: Some(at),
        not_before: n.is_multiple_of(5000).then_some(next),
        reason: None,
    });
    Ok(record)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the wall clock")]
fn begin() -> Instant {
    Instant::now()
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
