//! Failures of made-up feeds, so that the page has something to show. The list holds only
//! failures that real servers have and that do not stop the demonstration.

use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use feed::Time;

use super::DemoFeed;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

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

/// Gives every tenth feed a failure, each kind in turn, from soon after `start`. A feed that moved
/// is also served at its new path.
pub fn with_mishaps(feeds: Vec<DemoFeed>, start: Time) -> Vec<DemoFeed> {
    let mut served = Vec::with_capacity(feeds.len() + feeds.len() / 50);
    for (number, mut feed) in feeds.into_iter().enumerate() {
        if number % 10 != 3 {
            served.push(feed);
            continue;
        }
        let mishap = match number / 10 % 7 {
            0 => {
                Mishap::Busy { from: start + HOUR, until: start + 7 * HOUR, retry_after: 2 * HOUR }
            }
            1 => Mishap::Missing { from: start + 2 * HOUR, until: start + DAY },
            2 => {
                let to = format!("/new{}", feed.path);
                served.push(DemoFeed { path: to.clone(), ..feed.clone() });
                Mishap::Moved { to }
            }
            3 => Mishap::Empties,
            4 => Mishap::Page { from: start + 3 * HOUR, until: start + 9 * HOUR },
            5 => Mishap::Gone { from: start + 12 * HOUR },
            _ => Mishap::Locked,
        };
        feed.mishap = Some(mishap);
        served.push(feed);
    }
    served
}
