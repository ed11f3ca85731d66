//! Sums up the results of a strategy over all feeds.

use feed::Time;
use polling::budget::{PollPrice, Spender};

use crate::{PolledFeed, WorldFeed};

/// The result of one strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrategyRun {
    pub spender: Spender,
    /// Without the first poll of each feed.
    pub polls: u64,
    pub found: u64,
    pub missed: u64,
    pub open: u64,
    /// The share of all entries that were found.
    pub completeness: Option<f64>,
    /// The mean known share of a window, over feeds and cycles.
    pub window_freshness: Option<f64>,
    /// The mean delay in seconds.
    pub delay: Option<f64>,
    pub delay_sd: Option<f64>,
    pub delay_max: Option<f64>,
    /// The mean delay in seconds that a reader sees: each entry counts once for every reader of
    /// its feed.
    pub reader_delay: Option<f64>,
    /// The root mean square error of the divergence, averaged over the cycles.
    pub divergence_error: Option<f64>,
    /// The units that the polls cost; `None` without a price.
    pub units: Option<f64>,
}

/// The sums so far.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    polls: u64,
    found: u64,
    n_delays: u64,
    delay_ms: u64,
    delay_ms_max: u64,
    /// Seconds², for the standard deviation.
    delay_squares: f64,
    /// Seconds that all readers have waited, and the number of entries that they got.
    readers_waited: f64,
    readers_got: f64,
    cycles_fresh: u64,
    fresh: f64,
    cycles_judged: u64,
    errors: f64,
    parts: Option<u64>,
}

impl Ledger {
    /// Adds a poll.
    pub(super) fn poll(
        &mut self,
        feed: &WorldFeed,
        polled: &PolledFeed<'_>,
        counts_from: Time,
        at: Time,
    ) {
        self.polls += 1;
        let counts = |entry: &usize| {
            let is_wanted = feed.relevance().is_none_or(|relevance| relevance.is_wanted(*entry));
            is_wanted && feed.visible()[*entry] > counts_from
        };
        for entry in polled.found().filter(counts) {
            self.found += 1;
            if feed.claim(entry).is_none() {
                continue;
            }
            let ms = at.millis_since(feed.visible()[entry]).unsigned_abs();
            self.n_delays += 1;
            self.delay_ms += ms;
            self.delay_ms_max = self.delay_ms_max.max(ms);
            self.delay_squares += (ms as f64 / 1000.0).powi(2);
            self.readers_waited += feed.weight * ms as f64 / 1000.0;
            self.readers_got += feed.weight;
        }
    }

    /// Adds the price of a poll, if polls have one.
    pub(super) fn pay(&mut self, parts: Option<u64>) {
        if let Some(parts) = parts {
            self.parts = Some(self.parts.unwrap_or(0) + parts);
        }
    }

    pub(super) fn divergence(&mut self, squares: f64, n: usize) {
        if n > 0 {
            self.cycles_judged += 1;
            self.errors += (squares / n as f64).sqrt();
        }
    }

    pub(super) fn freshness(&mut self, sum: f64, n: usize) {
        if n > 0 {
            self.cycles_fresh += 1;
            self.fresh += sum / n as f64;
        }
    }

    pub(super) fn close(self, spender: Spender, appeared: u64, open: u64) -> StrategyRun {
        let mean = |sum: f64, n: u64| (n > 0).then(|| sum / n as f64);
        let delay = mean(self.delay_ms as f64 / 1000.0, self.n_delays);
        let squares = mean(self.delay_squares, self.n_delays);
        let variance = delay.zip(squares).map(|(mean, squares)| (squares - mean * mean).max(0.0));
        StrategyRun {
            spender,
            polls: self.polls,
            found: self.found,
            missed: appeared.saturating_sub(self.found + open),
            open,
            completeness: mean(self.found as f64, appeared),
            window_freshness: mean(self.fresh, self.cycles_fresh),
            delay,
            delay_sd: variance.map(f64::sqrt),
            delay_max: (self.n_delays > 0).then(|| self.delay_ms_max as f64 / 1000.0),
            reader_delay: (self.readers_got > 0.0).then(|| self.readers_waited / self.readers_got),
            divergence_error: mean(self.errors, self.cycles_judged),
            units: self.parts.map(|parts| PollPrice::units_of(parts as f64)),
        }
    }
}
