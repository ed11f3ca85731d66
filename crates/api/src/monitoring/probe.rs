//! Probes for service managers: whether the program is up, and whether it is ready. `metrics` has
//! the details.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::ServerContext;
use crate::blocking::run_blocking;

/// Answers if the process runs.
pub async fn health() -> &'static str {
    "ok\n"
}

/// A database that takes longer does not answer. A load balancer waits about as long.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Answers 200 if the store can be read and written and the engine polls. If another process polls,
/// only the store counts.
pub async fn readiness(State(context): State<ServerContext>) -> Response {
    if (context.draining)() {
        return not_ready("an operator drains this process");
    }
    let now = (context.now)();
    let live = (context.live)();
    let store = context.store;
    let counted = run_blocking(move || store.counts(now));
    let Ok(counted) = tokio::time::timeout(ANSWER_LIMIT, counted).await else {
        let secs = ANSWER_LIMIT.as_secs();
        return not_ready(&format!("the store does not answer within {secs} s"));
    };
    match counted {
        Err(error) => not_ready(&format!("the store does not answer: {error}")),
        Ok(_) => match live.not_ready.filter(|_| !live.polls_elsewhere) {
            Some(why) => not_ready(&why),
            None => "ready\n".into_response(),
        },
    }
}

fn not_ready(why: &str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response()
}
