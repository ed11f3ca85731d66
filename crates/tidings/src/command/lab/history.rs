//! The instance's own recorded history, feed by feed, for the lab.

use std::io::{self, Write};

use feed::{Outcome, Time};
use lab::world::history::{RecordedEntry, RecordedPoll, rows};
use lab::{TraceRow, World, WorldBuilder};
use store::{FeedFilter, FeedRow, Store};

use super::files::csv_field;
use crate::error::CliError;

/// The store keeps at most this many single polls of a feed.
const POLLS_MAX: u32 = 500;

/// The recorded history of one feed.
pub struct OwnFeed {
    pub feed: FeedRow,
    pub rows: Vec<TraceRow>,
    /// Entries whose time of appearance is unknown.
    pub n_undated: usize,
    pub n_suspected_misses: usize,
    pub first_look: Option<Time>,
}

/// Reads the history of every feed that was polled successfully at least once.
pub fn read(store: &Store) -> Result<Vec<OwnFeed>, CliError> {
    let mut feeds = Vec::new();
    for feed in store.feeds(&FeedFilter::default())? {
        let polls = store.polls(feed.id, POLLS_MAX)?;
        let looks: Vec<RecordedPoll> = polls
            .iter()
            .rev()
            .filter(|poll| poll.outcome.is_success())
            .map(|poll| RecordedPoll {
                at: poll.at,
                window: u32::try_from(poll.window_len).unwrap_or(u32::MAX),
                bytes: (poll.outcome == Outcome::Seen)
                    .then(|| u32::try_from(poll.bytes).unwrap_or(u32::MAX)),
            })
            .collect();
        let times = store.entry_times(feed.id)?;
        let seen: Vec<RecordedEntry> =
            times.iter().map(|t| RecordedEntry { claim: t.claim, seen_at: t.seen_at }).collect();
        let rows = rows(&seen, &looks);
        feeds.push(OwnFeed {
            feed,
            n_undated: seen.len() - rows.len(),
            rows,
            n_suspected_misses: polls.iter().filter(|poll| poll.suspected_miss).count(),
            first_look: seen.iter().map(|seen| seen.seen_at).min(),
        });
    }
    Ok(feeds)
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
