//! What machines ask of a running program: is it up, is it ready. How it is doing is told by
//! `metrics`.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::Context;
use crate::blocking::run_blocking;

/// The process answers.
pub async fn health() -> &'static str {
    "ok\n"
}

/// The store answers and takes what is written, and the engine polls.
pub async fn readiness(State(context): State<Context>) -> Response {
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
