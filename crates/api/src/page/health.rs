//! Whether all is well: what fails, what waits, how large the store is, whether the network is
//! there. Every figure is one short question over small rows.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use feed::Time;
use store::{Counts, FeedListFilter, FeedListRow, FeedOrder, InstanceStatus, Store, StoreError};

use super::feeds::{Line, Verdict, line, rate_span, verdict};
use super::frame::{Frame, Section, Visitor};
use super::{failed, shown};
use crate::blocking::run_blocking;
use crate::words::{bytes, count, plural, span};
use crate::{Context, Live};

/// Failing feeds that are named; all of them are on the page of feeds.
const NAMED: u32 = 15;
/// A poll that is late by more than this has a reason worth looking for.
const LATE: std::time::Duration = std::time::Duration::from_secs(600);
/// Less room than this, and the store may soon be unable to record.
const DISK_LOW: u64 = 1_000_000_000;

#[derive(Template)]
#[template(path = "health.html")]
struct HealthPage {
    frame: Frame,
    verdict: Verdict,
    checks: Vec<Check>,
    failing: Vec<Line>,
    n_failing: u64,
    none_failing: String,
}

/// One thing that is well or not.
struct Check {
    name: &'static str,
    class: &'static str,
    value: String,
    note: String,
}

struct Found {
    counts: Counts,
    standing: InstanceStatus,
    failing: Vec<FeedListRow>,
    unindexed: u64,
    free: Option<u64>,
}

pub async fn health(State(context): State<Context>, visitor: Visitor) -> Response {
    let (store, now) = (context.store.clone(), visitor.now(&context));
    match run_blocking(move || find(&store, now.at)).await {
        Ok(found) => {
            let live = (context.live)();
            shown(&HealthPage {
                verdict: verdict(&live, &found.counts),
                checks: checks(&found, &live, now.at),
                none_failing: none_failing(&live, &found.counts),
                n_failing: found.counts.failing,
                failing: found.failing.into_iter().map(|l| line(l, now)).collect(),
                frame: Frame::new(&context, visitor, Some(Section::Health)),
            })
        }
        Err(error) => failed(&context, visitor, &error),
    }
}

/// What is said where no feed is failing. A feed that was not polled yet did not succeed either,
/// and no feed is blamed for a poll that failed because our own network was down.
fn none_failing(live: &Live, counts: &Counts) -> String {
    let n_feeds = |n| plural(n, "feed", "feeds");
    if counts.feeds == 0 {
        "There are no feeds yet.".to_owned()
    } else if counts.never_polled >= counts.feeds {
        format!("Not known yet: none of {} has been polled.", n_feeds(counts.feeds))
    } else if live.outage.is_some() {
        "Not known: the network is down.".to_owned()
    } else if counts.never_polled > 0 {
        format!("None so far. {} not polled yet.", n_feeds(counts.never_polled))
    } else {
        "None.".to_owned()
    }
}

fn find(store: &Store, now: Time) -> Result<Found, StoreError> {
    let query = FeedListFilter {
        text: String::new(),
        tag: None,
        state: None,
        order: FeedOrder::Trouble,
        from: None,
        backwards: false,
        limit: NAMED,
    };
    let mut failing = store.feed_page(&query, now - rate_span())?.lines;
    failing.retain(|line| line.state.is_failing());
    let (last, indexed) = (store.last_entry_id()?, store.indexed_to()?);
    Ok(Found {
        counts: store.counts(now)?,
        standing: store.status(now)?,
        failing,
        unindexed: u64::try_from(last.0 - indexed.0).unwrap_or(0),
        free: free_bytes(store.path()),
    })
}

/// Room on the disk of the store; `None` where the system does not say.
fn free_bytes(path: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

fn checks(found: &Found, live: &Live, now: Time) -> Vec<Check> {
    let check = |name, well: bool, value: String, note: String| Check {
        name,
        class: if well { "active" } else { "backing" },
        value,
        note,
    };
    let standing = &found.standing;
    let late = standing.due_since.map(|since| now.since(since)).filter(|late| *late > LATE);
    let due = count(found.counts.due);
    let in_flight = format!("{} running, {due} due", count(live.in_flight));
    let database = standing.database_bytes + standing.log_bytes;
    vec![
        check(
            "Network",
            live.outage.is_none(),
            if live.outage.is_some() { "down" } else { "up" }.to_owned(),
            match found.counts.domains_held {
                0 => String::new(),
                n => format!("{} asked us to wait", plural(n, "domain has", "domains have")),
            },
        ),
        check(
            "Polls",
            late.is_none(),
            in_flight,
            late.map_or_else(String::new, |late| format!("the oldest has waited {}", span(late))),
        ),
        check(
            "Deliveries",
            standing.receivers_failing == 0 && standing.dead_letters == 0,
            format!("{} waiting", count(standing.deliveries_waiting)),
            match (standing.receivers_failing, standing.dead_letters) {
                (0, 0) => plural(standing.receivers, "receiver", "receivers"),
                (failing, dead) => format!(
                    "{} failing, {}",
                    plural(failing, "receiver", "receivers"),
                    plural(dead, "delivery given up", "deliveries given up")
                ),
            },
        ),
        check(
            "Search index",
            found.unindexed < 10_000,
            format!("{} behind", plural(found.unindexed, "entry", "entries")),
            String::new(),
        ),
        check(
            "Database",
            live.not_ready.is_none(),
            bytes(database),
            plural(found.counts.entries, "entry", "entries"),
        ),
        check(
            "Free disk",
            found.free.is_none_or(|free| free > DISK_LOW),
            found.free.map_or_else(|| "unknown".to_owned(), bytes),
            String::new(),
        ),
    ]
}
