//! The figures of a population of feeds (003, section 3.7), compared with the published ones.
//!
//! Input: the rows of a data set, table by table ([`PopulationBuilder`]). Only sums are kept, so
//! that millions of polls need little memory. Output: [`PopulationStats`], a list of sections with
//! facts. Each share has its numerator and its denominator; feeds that were never reached are a
//! row of their own.

mod attributes;
mod duplicates;
mod entries;
mod examples;
mod facts;
mod feeds;
mod headers;
mod intervals;
mod misses;
mod overview;
pub mod patterns;
mod requirements;
mod spread;
mod tally;

use std::collections::HashMap;

use feed::Time;

use crate::tables::{FeedLine, MissLine, PollLine, StreamLine};

use examples::ExampleFeeds;
pub use facts::{CurveShape, FactValue, PopulationStats, StatCurve, StatFact, StatSection};
use intervals::IntervalCounts;
use spread::LogSpread;
use tally::{MinuteCounts, PollTally};

/// Collects the rows of a data set. The feeds must come before the other tables.
#[derive(Default)]
pub struct PopulationBuilder {
    feeds: Vec<FeedLine>,
    tallies: Vec<PollTally>,
    places: HashMap<u64, usize>,
    entries: EntryTotals,
    minutes: MinuteCounts,
    intervals: IntervalCounts,
    examples: ExampleFeeds,
}

/// The sums over all entries.
#[derive(Default)]
pub(crate) struct EntryTotals {
    pub n: u64,
    pub undated: u64,
    /// Seconds between two entries of one feed.
    pub gaps: LogSpread,
    /// The feed and the time of the entry before.
    last: Option<(u64, Time)>,
}

/// Returns how the window of a feed varies: `growing`, `alternating` or `swinging`; `None` if it
/// does not. `windows` are the sizes of the windows of successful polls in order, each with the
/// number of new entries.
pub fn window_change(windows: impl Iterator<Item = (u64, u64)>) -> Option<&'static str> {
    let mut sizes = tally::WindowSizes::default();
    windows.for_each(|(size, n_new)| sizes.add(size, n_new));
    sizes.change().map(tally::WindowChange::word)
}

impl PopulationBuilder {
    pub fn feed(&mut self, feed: FeedLine) {
        self.places.insert(feed.feed, self.feeds.len());
        self.examples.feed(&feed);
        self.feeds.push(feed);
        self.tallies.push(PollTally::default());
    }

    /// Adds a poll. The polls of a feed must come in order.
    pub fn poll(&mut self, poll: &PollLine) {
        let Some(&place) = self.places.get(&poll.feed) else { return };
        if let Some(seconds) = self.tallies[place].poll(poll) {
            self.intervals.add(seconds);
        }
        self.minutes.add(poll.at);
    }

    /// Adds an entry. The entries of a feed must come together, in the order of publication.
    pub fn entry(&mut self, entry: &StreamLine) {
        let Some(&place) = self.places.get(&entry.feed) else { return };
        let totals = &mut self.entries;
        totals.n += 1;
        totals.undated += u64::from(entry.claimed.is_none());
        if let Some((feed, at)) = totals.last
            && feed == entry.feed
        {
            let seconds = entry.published.millis_since(at).max(0) as f64 / 1000.0;
            totals.gaps.add(seconds);
        }
        totals.last = Some((entry.feed, entry.published));
        self.examples.entry(entry);
        let tally = &mut self.tallies[place];
        tally.entries += 1;
        tally.undated += u64::from(entry.claimed.is_none());
        let at = entry.published;
        let (oldest, newest) = tally.published.unwrap_or((at, at));
        tally.published = Some((oldest.min(at), newest.max(at)));
        duplicates::keep_key(&mut tally.keys, &entry.key);
    }

    pub fn miss(&mut self, miss: &MissLine) {
        if let Some(&place) = self.places.get(&miss.feed) {
            self.tallies[place].misses += 1;
        }
    }

    /// Calculates all sections.
    pub fn finish(self) -> PopulationStats {
        let sections = vec![
            overview::overview(&self),
            feeds::formats(&self),
            feeds::windows(&self),
            feeds::sizes(&self),
            headers::headers(&self),
            headers::validators(&self),
            entries::per_feed(&self),
            entries::gaps(&self),
            examples::timelines(&self),
            entries::patterns(&self),
            attributes::attributes(&self),
            attributes::ttl(&self),
            attributes::texts(&self),
            duplicates::duplicates(&self),
            misses::misses(&self),
            misses::errors(&self),
            intervals::intervals(&self),
            requirements::subset(&self),
            requirements::requirements(&self),
        ];
        PopulationStats {
            feeds: self.feeds.len() as u64,
            polls: self.tallies.iter().map(|tally| tally.polls).sum(),
            entries: self.entries.n,
            sections,
        }
    }

    /// Returns the number of feeds for which a condition holds.
    fn n_feeds(&self, holds: impl Fn(&FeedLine, &PollTally) -> bool) -> u64 {
        self.feeds.iter().zip(&self.tallies).filter(|(feed, tally)| holds(feed, tally)).count()
            as u64
    }

    fn n_all(&self) -> u64 {
        self.feeds.len() as u64
    }
}

#[cfg(test)]
mod tests;
