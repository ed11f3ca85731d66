//! The answer to a request that the store could not serve: status, words, and when to try again.
//!
//! A database server that does not answer is a temporary state (503), and so is a change that
//! another process kept from its rows. Any other failure is an error of this program or of its
//! files (500). Pages and APIs write the answer in their own form.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use store::{ErrorKind, StoreError};

/// After so many seconds a page or a program tries again. A server that restarts needs a few.
pub const RETRY_SECS: u16 = 5;
/// The same after another change was in the way, which takes a moment.
const BUSY_RETRY_SECS: u16 = 1;

/// Returns whether another change was in the way, as in a deadlock. The same request may succeed.
pub fn is_busy(error: &StoreError) -> bool {
    error.kind() == ErrorKind::Busy
}

/// Returns the status for a failure.
pub fn status(error: &StoreError) -> StatusCode {
    match error.is_unavailable() || is_busy(error) {
        true => StatusCode::SERVICE_UNAVAILABLE,
        false => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns the words for programs.
pub fn detail(error: &StoreError) -> &'static str {
    match error.is_unavailable() {
        true => "the database does not answer, and polling waits for it; try again soon",
        false if is_busy(error) => "another change was in the way; nothing has changed; try again",
        false => "the database did not answer",
    }
}

/// Returns `Retry-After`, if waiting helps.
pub fn retry_after(error: &StoreError) -> Option<(HeaderName, HeaderValue)> {
    let secs = match error.is_unavailable() {
        true => RETRY_SECS,
        false if is_busy(error) => BUSY_RETRY_SECS,
        false => return None,
    };
    Some((header::RETRY_AFTER, HeaderValue::from(secs)))
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
