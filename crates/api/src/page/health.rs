//! The page of health: failing feeds, waiting work, the size of the store and the network. Every
//! figure is one cheap read of the store.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use feed::Time;
use store::{
    AccountId, Counts, FeedListFilter, FeedListRow, FeedOrder, InstanceStatus, Store, StoreError,
    TokenScope,
};

use super::frame::{Frame, NavSection, Visitor};
use super::notice::{render, store_error};
use super::parts::feed_row::{FeedTableRow, rate_span};
use super::parts::health_summary::HealthSummary;
use crate::blocking::run_blocking;
use crate::words::{bytes, count, plural, span};
use crate::{EngineState, ServerContext};

/// Failing feeds that this page names. The page of feeds lists all of them.
const NAMED: u32 = 15;
/// A poll this late has a cause that somebody should look for.
const LATE: std::time::Duration = std::time::Duration::from_secs(600);
/// Below this many free bytes, the store may soon be unable to record.
const DISK_LOW: u64 = 1_000_000_000;

#[derive(Template)]
#[template(path = "health.html")]
struct HealthPage {
    frame: Frame,
    summary: HealthSummary,
    checks: Vec<HealthCheck>,
    failing: Vec<FeedTableRow>,
    n_failing: u64,
    none_failing: String,
    /// Whether the visitor may see the machines.
    is_admin: bool,
}

/// One thing that works or does not.
struct HealthCheck {
    name: &'static str,
    class: &'static str,
    value: String,
    note: String,
}

/// The figures that the checks need.
struct HealthFigures {
    counts: Counts,
    standing: InstanceStatus,
    failing: Vec<FeedListRow>,
    unindexed: u64,
    free: Option<u64>,
}

pub async fn health(State(context): State<ServerContext>, visitor: Visitor) -> Response {
    let (store, now) = (context.store.clone(), visitor.now(&context));
    // A reader sees their own feeds only.
    let is_admin = visitor.may(TokenScope::Admin);
    let account = if is_admin { AccountId::LOCAL } else { visitor.account() };
    match run_blocking(move || read_figures(&store, account, now.at)).await {
        Ok(figures) => {
            let live = (context.live)();
            render(&HealthPage {
                summary: HealthSummary::new(&live, &figures.counts),
                checks: checks(&figures, &live, now.at),
                none_failing: none_failing(&live, &figures.counts),
                n_failing: match is_admin {
                    true => figures.counts.failing,
                    false => figures.failing.len() as u64,
                },
                failing: figures.failing.into_iter().map(|l| FeedTableRow::new(l, now)).collect(),
                is_admin,
                frame: Frame::new(&context, visitor, Some(NavSection::Health)),
            })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Returns the text for an empty list of failing feeds. A feed that was never polled has not
/// succeeded either, and an outage of our own network is not blamed on feeds.
fn none_failing(live: &EngineState, counts: &Counts) -> String {
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

fn read_figures(store: &Store, account: AccountId, now: Time) -> Result<HealthFigures, StoreError> {
    let query = FeedListFilter {
        account,
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
    Ok(HealthFigures {
        counts: store.counts(now)?,
        standing: store.status(now)?,
        failing,
        unindexed: u64::try_from(last.0 - indexed.0).unwrap_or(0),
        free: free_bytes(store.path()),
    })
}

/// Returns the free bytes on the disk of the store. `None` if the system does not say.
pub fn free_bytes(path: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

fn checks(figures: &HealthFigures, live: &EngineState, now: Time) -> Vec<HealthCheck> {
    let check = |name, well: bool, value: String, note: String| HealthCheck {
        name,
        class: if well { "active" } else { "backing" },
        value,
        note,
    };
    let standing = &figures.standing;
    let late = standing.due_since.map(|since| now.since(since)).filter(|late| *late > LATE);
    let due = count(figures.counts.due);
    let in_flight = format!("{} running, {due} due", count(live.in_flight));
    let database = standing.database_bytes + standing.log_bytes;
    vec![
        check(
            "Network",
            live.outage.is_none(),
            if live.outage.is_some() { "down" } else { "up" }.to_owned(),
            match figures.counts.domains_held {
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
            figures.unindexed < 10_000,
            format!("{} behind", plural(figures.unindexed, "entry", "entries")),
            String::new(),
        ),
        check(
            "Database",
            live.not_ready.is_none(),
            bytes(database),
            plural(figures.counts.entries, "entry", "entries"),
        ),
        check(
            "Free disk",
            figures.free.is_none_or(|free| free > DISK_LOW),
            figures.free.map_or_else(|| "unknown".to_owned(), bytes),
            String::new(),
        ),
    ]
}
