//! Failures of made-up feeds, so that the page has something to show. The list holds only
//! failures that real servers have and that do not stop the demonstration.

use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use feed::Time;

/// One kind of failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// Answers 503 with `Retry-After` in this period.
    Busy { from: Time, until: Time, retry_after: Duration },
    /// Answers 404 in this period.
    Missing { from: Time, until: Time },
    /// Redirects permanently to another path of the same host.
    Moved { to: String },
    /// Sends an HTML page instead of a feed in this period.
    Page { from: Time, until: Time },
    /// Shows an empty window during one quarter of every hour.
    Empties,
    /// Answers 410 from this moment on.
    Gone { from: Time },
    /// Asks for a password.
    Locked,
}

impl Mishap {
    /// Returns the response that replaces the document at `now`, if there is one.
    pub fn answer(&self, host: &str, now: Time) -> Option<Response> {
        let within = |from: &Time, until: &Time| *from <= now && now < *until;
        match self {
            Mishap::Busy { from, until, retry_after } if within(from, until) => {
                let wait = [(header::RETRY_AFTER, retry_after.as_secs().to_string())];
                let text = "We are busy. Please come back later.";
                Some((StatusCode::SERVICE_UNAVAILABLE, wait, text).into_response())
            }
            Mishap::Missing { from, until } if within(from, until) => {
                Some((StatusCode::NOT_FOUND, "Not found.").into_response())
            }
            Mishap::Page { from, until } if within(from, until) => {
                let page = "<!doctype html><title>Down for maintenance</title><p>Back soon.";
                Some(([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response())
            }
            Mishap::Moved { to } => {
                let target = [(header::LOCATION, format!("http://{host}{to}"))];
                Some((StatusCode::MOVED_PERMANENTLY, target).into_response())
            }
            Mishap::Gone { from } if *from <= now => {
                Some((StatusCode::GONE, "This feed has ended.").into_response())
            }
            Mishap::Locked => Some((StatusCode::UNAUTHORIZED, "Members only.").into_response()),
            _ => None,
        }
    }

    pub fn is_empty_at(&self, now: Time) -> bool {
        *self == Mishap::Empties && now.secs().div_euclid(900) % 4 == 3
    }
}
