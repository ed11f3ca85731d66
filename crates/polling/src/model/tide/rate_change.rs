//! Detects a change in a feed's posting rate. Slow averages need weeks to notice one, so each poll
//! adds evidence for a rate four times higher and for one four times lower (Page's CUSUM test,
//! 1954).
//!
//! Evidence, entries and time accumulate from the poll since which the evidence is positive. At
//! odds of about 8,000 to 1 they replace the short span of the level. The long span stays, so that
//! a feed that resumes after a silence is known.
//!
//! Entries come in bursts, and a burst is not a change. The test therefore counts polls with new
//! entries, not entries, and compares them with the usual number of such polls. It needs at least
//! one day. It is suspended while the hours are uncertain ([`super::hour_change`]).
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! // An entry an hour for sixty days, then one in ten hours for four days; polled every hour.
//! let mut model = ModelKind::Tide.start();
//! for hour in 0..64 * 24 {
//!     let at = Time::from_secs(hour * 3600 + 1800);
//!     let born = [Time::from_secs(hour * 3600)];
//!     let new = if hour < 60 * 24 || hour % 10 == 0 { &born[..] } else { &[] };
//!     model.learn(&Observation::first(at, new).with_overlap(1));
//! }
//! assert!(model.mean_rate() * 86_400.0 < 4.0, "{}", model.mean_rate() * 86_400.0);
//! ```

use super::level::RateSpan;

/// The evidence at which a change is accepted.
const EVIDENCE_MIN: f32 = 9.0;
/// A shorter time, in seconds of mean activity, may be a burst or a quiet afternoon.
const WATCHED_MIN_SECS: f32 = 86_400.0;
/// The decay of the burst statistics: that of the level's long span.
const MEMORY_SECS: f64 = 3000.0 * 3600.0;
/// The prior before any poll: two of three entries are independent.
const INDEPENDENT_PRIOR: (f64, f64) = (2.0, 3.0);

/// Evidence for a higher and for a lower rate, and statistics about bursts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RateChange {
    pub(super) higher: EvidenceRun,
    pub(super) lower: EvidenceRun,
    /// Polls with new entries, and the number expected if all entries were independent.
    pub(super) found: f32,
    pub(super) expected: f32,
}

/// Consecutive polls whose total evidence for a change is positive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct EvidenceRun {
    /// Log odds.
    pub(super) evidence: f32,
    pub(super) entries: f32,
    /// In seconds of mean activity.
    pub(super) watched: f32,
}

/// The interval between two polls.
#[derive(Clone, Copy, Debug)]
pub(super) struct PollGap {
    pub(super) secs: f64,
    /// New entries, and watched time in seconds of mean activity.
    pub(super) entries: f64,
    pub(super) watched: f64,
}

impl RateChange {
    /// Adds the evidence of one poll and the interval before it. `rate` is the current estimate in
    /// entries per second of mean activity.
    pub(super) fn learn(&mut self, gap: PollGap, rate: f64) {
        if gap.watched <= 0.0 {
            return;
        }
        let independent = self.independent();
        let expected = independent * rate * gap.watched;
        // The probability of no entry: at the current rate, and at a quarter of it.
        let none = (-expected).exp();
        let low = none.sqrt().sqrt();
        let found = gap.entries > 0.0;
        let (higher, lower) = if found {
            // (1 − none⁴) / (1 − none), and the same for a quarter.
            let likelier = (1.0 + none) * (1.0 + none * none);
            (likelier.ln(), -((1.0 + low) * (1.0 + low * low)).ln())
        } else {
            (-3.0 * expected, 0.75 * expected)
        };
        let kept = (-gap.secs / MEMORY_SECS).exp();
        self.found = (f64::from(self.found) * kept + f64::from(u8::from(found))) as f32;
        self.expected = (f64::from(self.expected) * kept + (1.0 - none) / independent) as f32;
        self.higher.add(higher, gap);
        self.lower.add(lower, gap);
    }

    /// Returns entries and time since a change, once, when the change is accepted.
    pub(super) fn changed(&mut self) -> Option<RateSpan> {
        let significant =
            [self.higher, self.lower].into_iter().find(EvidenceRun::is_significant)?;
        (self.higher, self.lower) = Default::default();
        let (entries, watched) = (f64::from(significant.entries), f64::from(significant.watched));
        Some(RateSpan { entries, watched })
    }

    /// Returns the share of entries that are independent: alone, or first of a burst.
    pub(super) fn independent(&self) -> f64 {
        let (found, expected) = INDEPENDENT_PRIOR;
        ((f64::from(self.found) + found) / (f64::from(self.expected) + expected)).min(1.0)
    }
}

impl EvidenceRun {
    fn add(&mut self, added: f64, gap: PollGap) {
        let evidence = self.evidence + added as f32;
        *self = if evidence > 0.0 {
            let entries = self.entries + gap.entries as f32;
            EvidenceRun { evidence, entries, watched: self.watched + gap.watched as f32 }
        } else {
            EvidenceRun::default()
        };
    }

    fn is_significant(&self) -> bool {
        self.evidence > EVIDENCE_MIN && self.watched > WATCHED_MIN_SECS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 12.0 / 86_400.0;

    /// Polls every two hours with one expected entry. Returns the poll at which a change is
    /// accepted, and the entries per day since.
    fn told(n_polls: usize, entries: impl Fn(usize) -> f64) -> Option<(usize, f64)> {
        let mut doubt = RateChange::default();
        (0..n_polls).find_map(|i| {
            let gap = PollGap { secs: 7200.0, entries: entries(i), watched: 7200.0 };
            doubt.learn(gap, RATE);
            let span = doubt.changed()?;
            Some((i, span.entries / span.watched * 86_400.0))
        })
    }

    /// Deterministic noise.
    fn chance(i: usize) -> f64 {
        ((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1_u64 << 24) as f64
    }

    #[test]
    fn a_steady_feed_and_its_bursts_show_no_change() {
        // Three years of polls with Poisson's share of empty ones.
        assert_eq!(told(13_000, |i| f64::from(chance(i) > 0.37)), None);
        // Bursts of twelve entries, at one poll in twelve.
        assert_eq!(told(13_000, |i| if chance(i) < 1.0 / 12.0 { 12.0 } else { 0.0 }), None);
    }

    #[test]
    fn a_change_is_believed_after_a_day_and_what_came_before_it_is_left_out() {
        let steady = |i: usize| f64::from(chance(i) > 0.37);
        let (at, per_day) = told(2000, |i| if i < 1000 { steady(i) } else { 10.0 }).unwrap();
        assert!((1012..1060).contains(&at) && per_day > 100.0, "{at} {per_day}");
        let seldom = |i: usize| f64::from(i.is_multiple_of(10));
        let (at, per_day) = told(2000, |i| if i < 1000 { steady(i) } else { seldom(i) }).unwrap();
        assert!((1012..1060).contains(&at) && per_day < 2.5, "{at} {per_day}");
    }
}
