//! One feed as a row of a table: its state in words, its polls, and advice if it fails.

use std::time::Duration;

use store::{FeedListRow, FeedState};

use super::advice::advice;
use crate::page::feeds::tag_href;
use crate::sanitise;
use crate::words::{DisplayTime, LocalNow, count, per_day, sentence};

/// Pages show new entries per day as the mean of this many days.
pub const RATE_DAYS: u32 = 7;

/// A feed in a table of feeds.
pub struct FeedTableRow {
    pub id: u32,
    pub title: String,
    pub address: String,
    /// Each tag with the address of the list of its feeds.
    pub tags: Vec<(String, String)>,
    pub state: &'static str,
    pub state_class: &'static str,
    pub per_day: String,
    pub entries: String,
    pub last_poll: Option<DisplayTime>,
    pub next_poll: Option<DisplayTime>,
    /// The words in place of the next poll, if none is planned.
    pub no_next: &'static str,
    pub problem: Option<FeedProblem>,
}

/// The error of a feed, and what a person can do about it.
pub struct FeedProblem {
    pub error: String,
    pub advice: &'static str,
}

impl FeedTableRow {
    pub fn new(line: FeedListRow, now: LocalNow) -> FeedTableRow {
        let never_polled = line.last_poll_at.is_none();
        let (state, state_class) = state_words(line.state);
        let error = line.gone_reason.or(line.error).unwrap_or_default();
        let has_problem = line.state == FeedState::Gone || line.state.is_failing();
        let advised =
            advice(line.last_outcome, line.last_status, line.trouble).filter(|_| has_problem);
        let masked = line.url.masked();
        let address = masked.split_once("://").map_or(masked.as_str(), |(_, rest)| rest);
        let address = address.trim_end_matches('/').to_owned();
        let title = line.title.as_deref().map(sanitise::text);
        let tags = line.tags.into_iter().filter(|tag| !tag.starts_with(store::QUERY_TAG));
        let next_at = line.next_at.filter(|_| line.state.is_polled());
        FeedTableRow {
            id: line.id.0,
            title: title.filter(|t| !t.trim().is_empty()).unwrap_or_else(|| address.clone()),
            address,
            tags: tags.map(|tag| (tag.clone(), tag_href(tag))).collect(),
            state,
            state_class,
            per_day: if never_polled { "–".to_owned() } else { daily_rate(line.n_since) },
            entries: count(line.entries),
            last_poll: line.last_poll_at.map(|t| DisplayTime::new(t, now)),
            next_poll: next_at.map(|t| DisplayTime::ahead(t, now)),
            no_next: no_next(line.state),
            problem: advised.map(|advice| FeedProblem { error: sentence(&error), advice }),
        }
    }
}

/// Returns the state of a feed in words, and its class in the stylesheet.
pub fn state_words(state: FeedState) -> (&'static str, &'static str) {
    match state {
        FeedState::Never => ("not polled yet", "fresh"),
        FeedState::Active => ("active", "active"),
        FeedState::BackingOff => ("backing off", "backing"),
        FeedState::Damaged => ("damaged", "backing"),
        FeedState::Gone => ("gone", "gone"),
        FeedState::Paused => ("paused", "paused"),
    }
}

/// Returns the words in place of the next poll, for a feed without one.
pub fn no_next(state: FeedState) -> &'static str {
    match state {
        FeedState::Gone => "never",
        FeedState::Paused => "when resumed",
        _ => "now",
    }
}

pub fn rate_span() -> Duration {
    Duration::from_secs(86_400 * u64::from(RATE_DAYS))
}

/// Returns the entries of the last [`RATE_DAYS`] days as a daily mean.
pub fn daily_rate(n_since: u64) -> String {
    per_day(n_since as f64 / f64::from(RATE_DAYS))
}
