//! The state of the instance, as the page shows it.

use axum::Json;
use axum::extract::State;

use super::blocking;
use super::route::Route;
use super::schema::answer;
use crate::ServerContext;
use crate::v1::error::ApiError;

answer! {
    /// The state of the instance. Totals count from the start of the program.
    Health {
        /// The version of the program.
        version: &'static str,
        /// Whether polling has begun.
        ready: bool,
        /// The time of this answer.
        now: String,
        /// When the program was started.
        started_at: String,
        /// Why our own network seems to be down, if so.
        outage: Option<String>,
        /// All feeds.
        feeds: u64,
        /// Feeds whose last poll did not succeed.
        feeds_failing: u64,
        /// Feeds that have ended.
        feeds_gone: u64,
        /// Feeds paused by their own setting.
        feeds_paused: u64,
        /// Feeds that were never polled.
        feeds_never_polled: u64,
        /// Feeds that are due.
        feeds_due: u64,
        /// Domains that asked us to wait.
        domains_held: u64,
        /// Stored entries.
        entries: u64,
        /// The last entry in the search index.
        indexed_to: i64,
        /// The last entry that was recorded.
        last_entry: i64,
        /// Polls in flight.
        polls_in_flight: u64,
        /// Granted polls that wait.
        polls_waiting: u64,
        /// Polls since the start.
        polls: u64,
        /// Polls since the start that failed.
        polls_failed: u64,
        /// Polls in the last hour.
        polls_last_hour: u64,
        /// Entries found since the start.
        entries_found: u64,
        /// Bytes received since the start.
        bytes_received: u64,
    }
}

pub fn routes() -> Vec<Route> {
    vec![Route::get("/health", "The state of the instance", health).answers::<Health>()]
}

async fn health(State(context): State<ServerContext>) -> Result<Json<Health>, ApiError> {
    let (now, live, version) = ((context.now)(), (context.live)(), context.version);
    let store = context.store;
    blocking(move || {
        let counts = store.counts(now)?;
        Ok(Json(Health {
            version,
            ready: live.not_ready.is_none(),
            now: now.to_string(),
            started_at: live.started_at.to_string(),
            outage: live.outage,
            feeds: counts.feeds,
            feeds_failing: counts.failing,
            feeds_gone: counts.gone,
            feeds_paused: counts.paused,
            feeds_never_polled: counts.never_polled,
            feeds_due: counts.due,
            domains_held: counts.domains_held,
            entries: counts.entries,
            indexed_to: store.indexed_to()?.0,
            last_entry: store.last_entry_id()?.0,
            polls_in_flight: live.in_flight,
            polls_waiting: live.waiting,
            polls: live.polls_total,
            polls_failed: live.polls_failed_total,
            polls_last_hour: live.polls_last_hour,
            entries_found: live.entries_total,
            bytes_received: live.bytes_total,
        }))
    })
    .await
}
