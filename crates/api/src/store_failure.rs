//! The answer to a request that the store could not serve: status, words, and when to try again.
//!
//! A database server that does not answer is a temporary state (503). Any other failure is an
//! error of this program or of its files (500). Pages and APIs write the answer in their own form.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use store::StoreError;

/// After so many seconds a page or a program tries again. A server that restarts needs a few.
pub const RETRY_SECS: u16 = 5;

/// Returns the status for a failure.
pub fn status(error: &StoreError) -> StatusCode {
    match error.is_unavailable() {
        true => StatusCode::SERVICE_UNAVAILABLE,
        false => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns the words for programs.
pub fn detail(error: &StoreError) -> &'static str {
    match error.is_unavailable() {
        true => "the database does not answer, and polling waits for it; try again soon",
        false => "the database did not answer",
    }
}

/// Returns `Retry-After`, if waiting helps.
pub fn retry_after(error: &StoreError) -> Option<(HeaderName, HeaderValue)> {
    error.is_unavailable().then(|| (header::RETRY_AFTER, HeaderValue::from(RETRY_SECS)))
}

/// Logs a failure. While the server is away, every request fails; the daemon has logged that once.
pub fn log(error: &StoreError, what: &'static str) {
    let cause: &(dyn std::error::Error + 'static) = error;
    if error.is_unavailable() {
        tracing::debug!(error = cause, "{what}");
    } else {
        tracing::warn!(error = cause, "{what}");
    }
}

/// Logs a failure and answers it in a line of text, for programs without a format of their own.
pub fn plain(error: &StoreError, what: &'static str) -> Response {
    log(error, what);
    let mut response = (status(error), format!("{}\n", detail(error))).into_response();
    response.headers_mut().extend(retry_after(error));
    response
}
