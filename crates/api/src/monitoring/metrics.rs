//! `/metrics`: every figure that an operator can watch, in the text format of Prometheus. No figure
//! needs a scan of entries or polls. A new metric is one more function below, called from
//! [`metrics`].

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use feed::Time;
use store::{Counts, InstanceStatus, StoreMetrics};

use super::exposition::Exposition;
use super::exposition::MetricKind::{Counter, Gauge};
use super::{machines, process};
use crate::blocking::run_blocking;
use crate::{EngineState, PollTotals, ServerContext};

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub async fn metrics(State(context): State<ServerContext>) -> Response {
    let now = (context.now)();
    let (live, spent) = ((context.live)(), (context.spent)());
    let store = context.store.clone();
    let asked = run_blocking(move || Ok((store.counts(now)?, store.status(now)?))).await;
    let store = context.store.clone();
    let shared = run_blocking(move || Ok((store.seat()?, store.machines()?))).await;
    let mut text = Exposition::default();
    program(&mut text, &live, asked.is_ok(), context.version);
    polls(&mut text, &live, &spent);
    budget(&mut text, &live, &spent);
    work(&mut text, &context.store.metrics());
    match asked {
        Ok((counts, standing)) => {
            feeds(&mut text, &counts, &standing, now);
            deliveries(&mut text, &standing);
        }
        // The figures of the engine are still useful. The figures of the store are missing.
        Err(error) => tracing::warn!(%error, "cannot read the figures of the store for /metrics"),
    }
    let store = context.store.clone();
    let pages = run_blocking(move || {
        let of_people = store.articles_of_people_today(now)?;
        Ok((store.n_articles_waiting()?, store.articles_today("", now)?.1, of_people))
    });
    if let Ok((waiting, today, of_people)) = pages.await {
        articles(&mut text, waiting, today, of_people);
    }
    // An instance in a data folder has no seat and no list of machines.
    if let Ok((Some(seat), list)) = shared {
        machines::write(&mut text, &seat, &list, live.lacking_regions.len());
        machines::road(&mut text, &spent.road);
    }
    served(&mut text, &context);
    process::write(&mut text);
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], text.text()).into_response()
}

/// Converts a figure. All are whole numbers far below 2^53.
fn n(figure: u64) -> f64 {
    figure as f64
}

fn program(text: &mut Exposition, live: &EngineState, answers: bool, version: &'static str) {
    let build = [(version, 1.0)];
    text.family(Gauge, "tidings_build_info", "The running version.", "version", &build);
    let help = "When the program started.";
    text.one(Gauge, "tidings_start_time_seconds", help, live.started_at.secs().max(0) as f64);
    let ready = answers && live.not_ready.is_none();
    let help = "Whether feeds are polled and entries are stored.";
    text.one(Gauge, "tidings_ready", help, f64::from(ready));
    let outage = f64::from(live.outage.is_some());
    let help = "Whether our own network seems to be down.";
    text.one(Gauge, "tidings_network_outage", help, outage);
}

fn polls(text: &mut Exposition, live: &EngineState, spent: &PollTotals) {
    text.one(Gauge, "tidings_polls_in_flight", "Polls in flight.", n(live.in_flight));
    let help = "Granted polls that wait.";
    text.one(Gauge, "tidings_polls_waiting", help, n(live.waiting));
    text.one(Counter, "tidings_polls_total", "Polls made since the start.", n(live.polls_total));
    let help = "Polls failed, damaged, refused or gone.";
    text.one(Counter, "tidings_polls_failed_total", help, n(live.polls_failed_total));
    let outcomes = [
        ("seen", n(spent.seen)),
        ("unchanged", n(spent.unchanged)),
        ("failed", n(spent.failed)),
        ("damaged", n(spent.damaged)),
        ("refused", n(spent.refused)),
        ("gone", n(spent.gone)),
    ];
    let help = "Polls by outcome.";
    text.family(Counter, "tidings_polls_by_outcome_total", help, "outcome", &outcomes);
    let help = "Polls after which entries may have been missed.";
    text.one(Counter, "tidings_suspected_misses_total", help, n(spent.suspected_misses));
    let help = "New entries since the start.";
    text.one(Counter, "tidings_entries_total", help, n(live.entries_total));
    text.one(Counter, "tidings_bytes_total", "Bytes of bodies received.", n(live.bytes_total));
}

fn budget(text: &mut Exposition, live: &EngineState, spent: &PollTotals) {
    let help = "Polls that ended within the last hour.";
    text.one(Gauge, "tidings_polls_last_hour", help, n(live.polls_last_hour));
    if let Some(polls) = spent.budget_polls_per_hour {
        let help = "Polls that the budget allows an hour.";
        text.one(Gauge, "tidings_budget_polls_per_hour", help, polls);
        let help = "Polls of the budget that were not made within the last hour.";
        let left = (polls - n(live.polls_last_hour)).max(0.0);
        text.one(Gauge, "tidings_budget_polls_left", help, left);
    }
    if let Some(bytes) = spent.budget_bytes_per_hour {
        let help = "Bytes that the budget allows an hour.";
        text.one(Gauge, "tidings_budget_bytes_per_hour", help, bytes);
    }
    if let Some(units) = spent.budget_units_per_hour {
        let help = "Units that the budget allows an hour, if a poll has a price.";
        text.one(Gauge, "tidings_budget_units_per_hour", help, units);
    }
}

fn work(text: &mut Exposition, figures: &StoreMetrics) {
    let help = "Time from the publication of an entry until it was seen, without first documents.";
    text.histogram("tidings_entry_delay_seconds", help, &figures.delays);
    let help = "Time until a group of changes was on disk.";
    text.histogram("tidings_commit_seconds", help, &figures.commits);
    let help = "Changes in these groups.";
    text.one(Counter, "tidings_changes_written_total", help, n(figures.changes));
    let help = "Groups of changes that could not be written.";
    text.one(Counter, "tidings_commits_failed_total", help, n(figures.commits_failed));
    let help = "Changes that wait for the writer.";
    text.one(Gauge, "tidings_writes_waiting", help, n(figures.waiting));
    let help = "Matches of queries.";
    text.one(Counter, "tidings_query_matches_total", help, n(figures.matches));
}

fn articles(text: &mut Exposition, waiting: u64, today: u64, of_people: u64) {
    let help = "Pages behind entries that are to be fetched.";
    text.one(Gauge, "tidings_articles_waiting", help, n(waiting));
    let help = "Pages that were asked for today (UTC) without a person's wish.";
    text.one(Gauge, "tidings_articles_today", help, n(today));
    let help = "Pages that people asked for today (UTC), by a click or by opening an entry.";
    text.one(Gauge, "tidings_articles_of_people_today", help, n(of_people));
}

fn feeds(text: &mut Exposition, counts: &Counts, standing: &InstanceStatus, now: Time) {
    let states = [
        ("all", n(counts.feeds)),
        ("failing", n(counts.failing)),
        ("damaged", n(counts.damaged)),
        ("gone", n(counts.gone)),
        ("paused", n(counts.paused)),
        ("never_polled", n(counts.never_polled)),
        ("due", n(counts.due)),
    ];
    text.family(Gauge, "tidings_feeds", "Feeds by state; states overlap.", "state", &states);
    let failing = &standing.failing;
    let since = [
        ("hour", n(failing.under_an_hour)),
        ("day", n(failing.under_a_day)),
        ("week", n(failing.under_a_week)),
        ("longer", n(failing.longer)),
        ("never", n(failing.never)),
    ];
    let help = "Failing feeds by how long ago a poll succeeded: within the hour, the day, the \
                week, longer, never.";
    text.family(Gauge, "tidings_feeds_failing", help, "last_success", &since);
    let late = standing.due_since.map_or(0.0, |since| now.since(since).as_secs_f64());
    let help = "Waiting time of the feed that is due longest.";
    text.one(Gauge, "tidings_due_oldest_seconds", help, late);
    text.one(Gauge, "tidings_entries_kept", "Stored entries.", n(counts.entries));
    let help = "Domains that asked us to wait.";
    text.one(Gauge, "tidings_domains_held", help, n(counts.domains_held));
    let files = [("database", n(standing.database_bytes)), ("log", n(standing.log_bytes))];
    text.family(Gauge, "tidings_store_bytes", "Size of the store's files.", "file", &files);
}

fn deliveries(text: &mut Exposition, standing: &InstanceStatus) {
    text.one(Gauge, "tidings_queries", "Standing queries.", n(standing.queries));
    let receivers = [("all", n(standing.receivers)), ("failing", n(standing.receivers_failing))];
    let help = "Receivers of queries; failing ones are among all.";
    text.family(Gauge, "tidings_receivers", help, "state", &receivers);
    let help = "Matches not delivered yet, over all receivers.";
    text.one(Gauge, "tidings_deliveries_waiting", help, n(standing.deliveries_waiting));
    let help = "Matches that a receiver did not accept.";
    text.one(Gauge, "tidings_dead_letters", help, n(standing.dead_letters));
    let help = "Subscribers to published feeds.";
    text.one(Gauge, "tidings_hub_subscribers", help, n(standing.subscribers));
}

fn served(text: &mut Exposition, context: &ServerContext) {
    let answers = context.traffic.answers();
    let help = "Answers of this server by the class of their status.";
    text.family(Counter, "tidings_http_responses_total", help, "class", &answers);
    let help = "Time until answers began.";
    text.histogram("tidings_http_response_seconds", help, &context.traffic.took());
    let (deltas, saved) = context.published.deltas.saved();
    let help = "Answers with only the new entries of a published feed (RFC 3229).";
    text.one(Counter, "tidings_published_deltas_total", help, n(deltas));
    let help = "Bytes that these answers were shorter than the whole feeds.";
    text.one(Counter, "tidings_published_delta_saved_bytes_total", help, n(saved));
    if let Some(images) = &context.images {
        let samples = images.tally().map(|(outcome, count)| (outcome, n(count)));
        let help = "Pictures requested through the proxy.";
        text.family(Counter, "tidings_images_total", help, "outcome", &samples);
    }
}
