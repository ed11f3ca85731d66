//! Probes for service managers: whether the program is up, and whether it is ready. `metrics` has
//! the details.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::ServerContext;
use crate::blocking::run_blocking;

/// Answers if the process runs.
pub async fn health() -> &'static str {
    "ok\n"
}

/// Answers 200 if the store can be read and written and the engine polls.
pub async fn readiness(State(context): State<ServerContext>) -> Response {
    let now = (context.now)();
    let live = (context.live)();
    let store = context.store;
    match run_blocking(move || store.counts(now)).await {
        Err(error) => not_ready(&format!("the store does not answer: {error}")),
        Ok(_) => match live.not_ready {
            Some(why) => not_ready(&why),
            None => "ready\n".into_response(),
        },
    }
}

fn not_ready(why: &str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response()
}
