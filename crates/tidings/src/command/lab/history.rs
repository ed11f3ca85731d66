//! The instance's own recorded history, feed by feed, for the lab.

use std::io::{self, Write};
use std::time::Duration;

use feed::{Outcome, Time};
use lab::world::history::{RecordedEntry, RecordedPoll, rows};
use lab::{TraceRow, World, WorldBuilder};
use store::{FeedFilter, FeedRow, Store};

use super::files::csv_field;
use crate::error::CliError;

/// The recorded history of one feed.
pub struct OwnFeed {
    pub feed: FeedRow,
    pub rows: Vec<TraceRow>,
    /// Entries whose time of appearance is unknown.
    pub n_undated: usize,
    pub n_suspected_misses: usize,
    pub first_look: Option<Time>,
    /// Polls that failed, and polls that did not.
    pub n_failed: usize,
    pub n_succeeded: usize,
    pub first_success: Option<Time>,
    /// Whether no entry has a date, although there are some.
    pub is_never_dated: bool,
}

/// Reads the history of every feed that was polled successfully at least once.
pub fn read(store: &Store) -> Result<Vec<OwnFeed>, CliError> {
    let mut feeds = Vec::new();
    for feed in store.feeds(&FeedFilter::default())? {
        let polls = store.recorded_polls(feed.id)?;
        let looks: Vec<RecordedPoll> = polls
            .iter()
            .filter(|poll| poll.row.outcome.is_success())
            .map(|poll| RecordedPoll {
                at: poll.row.at,
                window: u32::try_from(poll.row.window_len).unwrap_or(u32::MAX),
                bytes: (poll.row.outcome == Outcome::Seen)
                    .then(|| u32::try_from(poll.row.bytes).unwrap_or(u32::MAX)),
            })
            .collect();
        let times = store.entry_times(feed.id)?;
        let seen: Vec<RecordedEntry> =
            times.iter().map(|t| RecordedEntry { claim: t.claim, seen_at: t.seen_at }).collect();
        let rows = rows(&seen, &looks);
        let n_succeeded = looks.len();
        feeds.push(OwnFeed {
            feed,
            n_undated: seen.len() - rows.len(),
            rows,
            n_suspected_misses: polls.iter().filter(|poll| poll.row.suspected_miss).count(),
            first_look: seen.iter().map(|seen| seen.seen_at).min(),
            n_failed: polls.len() - n_succeeded,
            n_succeeded,
            first_success: looks.first().map(|look| look.at),
            is_never_dated: !seen.is_empty() && seen.iter().all(|entry| entry.claim.is_none()),
        });
    }
    Ok(feeds)
}

/// Failures for each success from which a feed counts as broken (003, section 3.5.6).
const BROKEN_RATIO: usize = 10;
/// The evaluation begins this long after the first poll.
const EVALUATION_AFTER: Duration = Duration::from_secs(86_400);

/// Keeps the feeds of the dissertation's evaluation (003, section 4.3.2). Returns what was left
/// out, in words.
pub fn keep_evaluated(feeds: &mut Vec<OwnFeed>) -> String {
    let n_all = feeds.len();
    let start = feeds.iter().filter_map(|own| own.first_success).min();
    let start = start.map(|first| first + EVALUATION_AFTER);
    feeds.retain(|own| own.n_failed <= BROKEN_RATIO * own.n_succeeded);
    let n_broken = n_all - feeds.len();
    feeds.retain(|own| own.first_success.is_some_and(|at| Some(at) <= start));
    let n_late = n_all - n_broken - feeds.len();
    feeds.retain(|own| !own.is_never_dated);
    let n_undated = n_all - n_broken - n_late - feeds.len();
    format!(
        "{} of {n_all} feeds are kept; left out: {n_broken} broken, {n_late} without data a day \
         after the first poll, {n_undated} that never carry dates.",
        feeds.len()
    )
}

/// Returns the history as a world for replays.
pub fn world(feeds: &[OwnFeed], window: u32) -> World {
    let mut builder = WorldBuilder::default();
    for own in feeds {
        let number = builder.feed(&own.feed.location.url.masked());
        builder.domain(number, &own.feed.domain);
        builder.weight(number, own.feed.settings.weight.unwrap_or(1.0));
        if let Some(ttl) = own.feed.hints.ttl {
            builder.ttl(number, ttl);
        }
        own.rows.iter().for_each(|row| {
            builder.entry(number, *row);
        });
    }
    builder.finish(window)
}

/// Writes the history as a trace.
pub fn write(feeds: &[OwnFeed], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "feed,published,visible,window,bytes,ttl,domain,weight,title")?;
    for own in feeds {
        let url = own.feed.location.url.masked();
        let url = csv_field(&url);
        let title = csv_field(own.feed.shown_title().unwrap_or_default());
        let ttl = own.feed.hints.ttl.map(|ttl| ttl.as_secs().to_string()).unwrap_or_default();
        let weight = own.feed.settings.weight.unwrap_or(1.0);
        for row in &own.rows {
            let claim = row.claim.map(|t| t.to_string()).unwrap_or_default();
            let number = |n: Option<u32>| n.map(|n| n.to_string()).unwrap_or_default();
            let (window, bytes) = (number(row.window), number(row.bytes));
            let (visible, domain) = (row.visible, csv_field(&own.feed.domain));
            writeln!(
                out,
                "{url},{claim},{visible},{window},{bytes},{ttl},{domain},{weight},{title}"
            )?;
        }
    }
    Ok(())
}

/// Describes the limits of this history.
pub fn blind_spots(feeds: &[OwnFeed]) -> String {
    let n_undated: usize = feeds.iter().map(|own| own.n_undated).sum();
    let n_misses: usize = feeds.iter().map(|own| own.n_suspected_misses).sum();
    format!(
        "The history contains only entries that a poll saw. Entries that appeared and disappeared \
         between two polls are missing; {n_misses} such gaps are suspected. An entry without a \
         usable date is assumed to have appeared midway between two polls. {n_undated} undated \
         entries of first polls are left out."
    )
}
