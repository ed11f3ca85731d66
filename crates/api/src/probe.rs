//! What machines ask of a running program: is it up, is it ready, how much has it done. Written
//! by hand in the text format of Prometheus; no figure needs a scan of entries or polls.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::page::ask;
use crate::{Context, Live};
use store::Counts;

/// The process answers.
pub async fn health() -> &'static str {
    "ok\n"
}

/// The store answers and the engine polls.
pub async fn readiness(State(context): State<Context>) -> Response {
    let now = (context.now)();
    let live = (context.live)();
    let store = context.store;
    match ask(move || store.counts(now)).await {
        Err(error) => not_ready(&format!("the store does not answer: {error}")),
        Ok(_) if !live.ready => not_ready("the engine is starting, or ending"),
        Ok(_) => "ready\n".into_response(),
    }
}

fn not_ready(why: &str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response()
}

pub async fn metrics(State(context): State<Context>) -> Response {
    let now = (context.now)();
    let live = (context.live)();
    let store = context.store;
    let counts = ask(move || store.counts(now)).await;
    let mut text = Exposition::default();
    text.live(&live, context.version);
    if let Some(images) = &context.images {
        let samples = images.tally().map(|(name, n)| (format!("{{outcome=\"{name}\"}}"), n));
        let samples = samples.each_ref().map(|(labels, n)| (labels.as_str(), *n));
        let help = "Pictures asked for through the proxy.";
        text.family("tidings_images_total", "counter", help, &samples);
    }
    match counts {
        Ok(counts) => text.store(&counts),
        // What the engine knows is still worth having; the missing figures speak for themselves.
        Err(error) => tracing::warn!(%error, "no figures of the store for /metrics"),
    }
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text.0).into_response()
}

/// Families of metrics, one after the other.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    fn family(&mut self, name: &str, kind: &str, help: &str, samples: &[(&str, u64)]) {
        self.0.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        for (labels, value) in samples {
            self.0.push_str(&format!("{name}{labels} {value}\n"));
        }
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "gauge", help, &[("", value)]);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "counter", help, &[("", value)]);
    }

    fn live(&mut self, live: &Live, version: &str) {
        let build = format!("{{version=\"{version}\"}}");
        self.family("tidings_build_info", "gauge", "The running version.", &[(&build, 1)]);
        let started = live.started_at.secs().max(0).unsigned_abs();
        self.gauge("tidings_start_time_seconds", "When the program started.", started);
        self.gauge("tidings_ready", "Whether feeds are polled.", live.ready.into());
        let outage = live.outage.is_some().into();
        self.gauge("tidings_network_outage", "Whether our own network seems to be down.", outage);
        self.gauge("tidings_polls_in_flight", "Polls on their way.", live.in_flight);
        self.gauge("tidings_polls_waiting", "Polls granted that wait their turn.", live.waiting);
        self.counter("tidings_polls_total", "Polls made since the start.", live.polls_total);
        let failed = live.polls_failed_total;
        self.counter("tidings_polls_failed_total", "Polls failed, refused or gone.", failed);
        self.counter("tidings_entries_total", "New entries since the start.", live.entries_total);
        self.counter("tidings_bytes_total", "Bytes of bodies received.", live.bytes_total);
    }

    fn store(&mut self, counts: &Counts) {
        let samples = [
            ("{state=\"all\"}", counts.feeds),
            ("{state=\"failing\"}", counts.failing),
            ("{state=\"gone\"}", counts.gone),
            ("{state=\"paused\"}", counts.paused),
            ("{state=\"never_polled\"}", counts.never_polled),
            ("{state=\"due\"}", counts.due),
        ];
        self.family("tidings_feeds", "gauge", "Feeds by state; states overlap.", &samples);
        self.gauge("tidings_entries_kept", "Entries whose text is kept.", counts.entries);
        let held = counts.domains_held;
        self.gauge("tidings_domains_held", "Domains that want to be left alone for now.", held);
    }
}
