//! Counts for one feed while a policy polls it, including how fresh its copy was.
//!
//! Sums of times are whole milliseconds, so they do not depend on the order.

use std::ops::Range;

use feed::Time;

use crate::{Delay, EntryRelevance};

/// The size of a response without a body, as the source measured it: headers only.
pub(crate) const HEADER_BYTES: u64 = 369;

/// The counts of one feed, over the part of the run that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeedTally {
    /// Without the first poll.
    pub polls: u64,
    pub found: u64,
    /// Entries that left the window unseen.
    pub missed: u64,
    /// Entries that appeared after the last poll.
    pub open: u64,
    /// Entries found that have a delay, which are the dated ones.
    pub n_delays: u64,
    pub delay_ms: u64,
    pub delay_ms_max: u64,
    pub bytes: u64,
    /// The time that was observed, and the part of it without unseen entries.
    pub watched_ms: u64,
    pub fresh_ms: u64,
    /// ∫ of the age of the copy in seconds²: the time since the first unseen entry appeared.
    pub age_integral: f64,
    /// ∫ of the known share of the window, in seconds.
    pub known_integral: f64,
}

impl FeedTally {
    /// Returns the mean delay in seconds.
    pub fn delay(&self) -> Option<f64> {
        (self.n_delays > 0).then(|| self.delay_ms as f64 / 1000.0 / self.n_delays as f64)
    }

    /// Returns the polls per entry found (APE).
    pub fn polls_per_entry(&self) -> Option<f64> {
        (self.found > 0).then(|| self.polls as f64 / self.found as f64)
    }

    pub fn recall(&self) -> Option<f64> {
        let all = self.found + self.missed + self.open;
        (all > 0).then(|| self.found as f64 / all as f64)
    }

    /// Returns the share of the time without unseen entries (Cho and Garcia-Molina).
    pub fn freshness(&self) -> Option<f64> {
        (self.watched_ms > 0).then(|| self.fresh_ms as f64 / self.watched_ms as f64)
    }

    /// Returns the mean age of the copy in seconds, zero while it is fresh (Cho and Garcia-Molina).
    pub fn age(&self) -> Option<f64> {
        (self.watched_ms > 0).then(|| self.age_integral * 1000.0 / self.watched_ms as f64)
    }

    /// Returns the mean known share of the window.
    pub fn window_freshness(&self) -> Option<f64> {
        (self.watched_ms > 0).then(|| self.known_integral * 1000.0 / self.watched_ms as f64)
    }

    pub(super) fn add_delay(&mut self, delay: Delay) {
        self.n_delays += 1;
        self.delay_ms += delay.millis();
        self.delay_ms_max = self.delay_ms_max.max(delay.millis());
    }

    /// Adds the freshness of the copy in (from, to]. The entries of `unseen` appeared since the
    /// last poll.
    #[inline]
    pub(super) fn wait(
        &mut self,
        visible: &[Time],
        unseen: Range<usize>,
        (from, to): (Time, Time),
        window: usize,
    ) {
        let span = to.millis_since(from).max(0).unsigned_abs();
        self.watched_ms += span;
        let Some(first) = visible[unseen.clone()].first() else {
            self.fresh_ms += span;
            self.known_integral += span as f64 / 1000.0;
            return;
        };
        self.fresh_ms += first.millis_since(from).max(0).unsigned_abs();
        let stale_from = seconds(*first, from.max(*first));
        let stale_to = seconds(*first, to);
        self.age_integral += (stale_to * stale_to - stale_from * stale_from) / 2.0;
        let (mut share, mut since) = (1.0, from);
        for (n_before, entry) in unseen.enumerate() {
            let at = visible[entry].max(from);
            self.known_integral += share * seconds(since, at);
            since = at;
            let shown = window.min(entry + 1);
            if n_before + 1 >= shown {
                // No entry of the window is known until the next poll.
                return;
            }
            share = 1.0 - (n_before + 1) as f64 / shown as f64;
        }
        self.known_integral += share * seconds(since, to);
    }

    /// As [`FeedTally::wait`], for the wanted entries only: the copy is fresh while no wanted entry
    /// is unseen, and the known share of the window is that of its wanted entries.
    pub(super) fn wait_for_wanted(
        &mut self,
        visible: &[Time],
        relevance: &EntryRelevance,
        unseen: Range<usize>,
        (from, to): (Time, Time),
        window: usize,
    ) {
        let span = to.millis_since(from).max(0).unsigned_abs();
        self.watched_ms += span;
        let first = unseen.clone().find(|entry| relevance.is_wanted(*entry));
        match first.map(|entry| visible[entry]) {
            None => self.fresh_ms += span,
            Some(first) => {
                self.fresh_ms += first.millis_since(from).max(0).unsigned_abs();
                let (stale_from, stale_to) = (seconds(first, from.max(first)), seconds(first, to));
                self.age_integral += (stale_to * stale_to - stale_from * stale_from) / 2.0;
            }
        }
        let (mut share, mut since) = (1.0, from);
        for entry in unseen.clone() {
            let at = visible[entry].max(from);
            self.known_integral += share * seconds(since, at);
            since = at;
            let oldest = (entry + 1).saturating_sub(window);
            let n_shown = relevance.n_wanted(oldest..entry + 1);
            let n_unseen = relevance.n_wanted(oldest.max(unseen.start)..entry + 1);
            share = if n_shown == 0 { 1.0 } else { 1.0 - n_unseen as f64 / n_shown as f64 };
        }
        self.known_integral += share * seconds(since, to);
    }

    /// Adds the counts of another feed.
    pub(crate) fn add(&mut self, other: &FeedTally) {
        self.polls += other.polls;
        self.found += other.found;
        self.missed += other.missed;
        self.open += other.open;
        self.n_delays += other.n_delays;
        self.delay_ms += other.delay_ms;
        self.delay_ms_max = self.delay_ms_max.max(other.delay_ms_max);
        self.bytes += other.bytes;
        self.watched_ms += other.watched_ms;
        self.fresh_ms += other.fresh_ms;
        self.age_integral += other.age_integral;
        self.known_integral += other.known_integral;
    }
}

fn seconds(from: Time, to: Time) -> f64 {
    to.millis_since(from) as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_ages_from_the_first_unseen_entry_on() {
        let visible = [10, 20, 60].map(Time::from_secs);
        let mut tally = FeedTally::default();
        // Polled at 15: the entry of 20 stays unseen until 40.
        tally.wait(&visible, 1..2, (Time::from_secs(15), Time::from_secs(40)), 4);
        assert_eq!(tally.freshness(), Some(0.2));
        assert_eq!(tally.age(), Some(200.0 / 25.0));
        // Two shown, one of them unknown for 20 of 25 seconds.
        assert_eq!(tally.window_freshness(), Some((5.0 + 20.0 * 0.5) / 25.0));
    }

    #[test]
    fn a_wait_for_all_is_a_wait_for_the_wanted_where_all_are_wanted() {
        let visible = [10, 20, 25, 26, 60].map(Time::from_secs);
        let all = EntryRelevance::new(vec![true; 5]);
        let between = (Time::from_secs(15), Time::from_secs(40));
        for window in [1, 2, 3, 9] {
            let (mut plain, mut wanted) = (FeedTally::default(), FeedTally::default());
            plain.wait(&visible, 1..4, between, window);
            wanted.wait_for_wanted(&visible, &all, 1..4, between, window);
            assert_eq!(plain, wanted, "window {window}");
        }
        let some = EntryRelevance::new(vec![true, false, false, true, true]);
        let mut tally = FeedTally::default();
        tally.wait_for_wanted(&visible, &some, 1..4, between, 9);
        // The only wanted entry appears at 26: 11 of 25 seconds are fresh, then half is known.
        assert_eq!(tally.freshness(), Some(11.0 / 25.0));
        assert_eq!(tally.window_freshness(), Some((11.0 + 14.0 * 0.5) / 25.0));
    }

    #[test]
    fn a_wait_that_began_before_the_test_counts_only_within_it() {
        let visible = [10, 20].map(Time::from_secs);
        let mut tally = FeedTally::default();
        tally.wait(&visible, 0..2, (Time::from_secs(30), Time::from_secs(40)), 4);
        assert_eq!((tally.fresh_ms, tally.known_integral), (0, 0.0));
        assert_eq!(tally.age(), Some((30.0 * 30.0 - 20.0 * 20.0) / 2.0 / 10.0));
    }
}
