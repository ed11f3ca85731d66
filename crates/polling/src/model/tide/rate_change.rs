//! Whether a feed still posts as often as it did. Slow memory tells a rhythm from noise and is slow
//! to unlearn one that ended; so each look is asked what speaks for a rate four times as high, and
//! for one four times as low, beside the rate that is believed.
//!
//! What speaks for a change is summed up from the moment on since which it speaks for it (a
//! cumulative sum, Page 1954), and so are entries and time. Beyond odds of eight thousand to one
//! the short span of the level becomes those. The long one stays: who comes back after a silence
//! is known.
//!
//! Entries come in company, and a burst is no change. So looks that found something are counted,
//! not entries, beside how many such looks there used to be; and less than a day says nothing. It
//! knows no hour, and it is not asked while hours are in doubt ([`super::hour_change`]).
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! // An entry an hour for sixty days, then one in ten hours for four; looked at every hour.
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

/// The evidence at which a change is believed.
const EVIDENCE_MIN: f32 = 9.0;
/// Less time, in seconds of mean activity, is a burst or a quiet afternoon.
const WATCHED_MIN_SECS: f32 = 86_400.0;
/// How fast it is forgotten in what company entries come: as the long span of the level.
const MEMORY_SECS: f64 = 3000.0 * 3600.0;
/// Before any look: of three entries two come alone.
const INDEPENDENT_PRIOR: (f64, f64) = (2.0, 3.0);

/// What speaks for a higher rate and for a lower one, and in what company entries come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RateChange {
    pub(super) higher: EvidenceRun,
    pub(super) lower: EvidenceRun,
    /// Looks that found something, and how many would have, had every entry come alone.
    pub(super) found: f32,
    pub(super) expected: f32,
}

/// Looks in a row that speak for a change, taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct EvidenceRun {
    /// The logarithm of the odds.
    pub(super) evidence: f32,
    pub(super) entries: f32,
    /// In seconds of mean activity.
    pub(super) watched: f32,
}

/// What lies between two looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct PollGap {
    pub(super) secs: f64,
    /// Entries found in the time watched, that in seconds of mean activity.
    pub(super) entries: f64,
    pub(super) watched: f64,
}

impl RateChange {
    /// One look, and the gap before it, beside the entries per second of mean activity that
    /// were believed.
    pub(super) fn learn(&mut self, gap: PollGap, rate: f64) {
        if gap.watched <= 0.0 {
            return;
        }
        let independent = self.independent();
        let expected = independent * rate * gap.watched;
        // How likely nothing is: as believed, at four times the rate, at a quarter of it.
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

    /// What was seen since the feed changed, where that is believed; said once.
    pub(super) fn changed(&mut self) -> Option<RateSpan> {
        let significant =
            [self.higher, self.lower].into_iter().find(EvidenceRun::is_significant)?;
        (self.higher, self.lower) = Default::default();
        let (entries, watched) = (f64::from(significant.entries), f64::from(significant.watched));
        Some(RateSpan { entries, watched })
    }

    /// The share of a feed's entries that come alone, or first of a company.
    pub(super) fn independent(&self) -> f64 {
        let (found, expected) = INDEPENDENT_PRIOR;
        ((f64::from(self.found) + found) / (f64::from(self.expected) + expected)).min(1.0)
    }
}

impl EvidenceRun {
    fn add(&mut self, evidence_of: f64, gap: PollGap) {
        let evidence = self.evidence + evidence_of as f32;
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

    /// Looks every two hours, at which one entry is expected; the first one at which a change is
    /// believed, and the entries per day since.
    fn told(n_looks: usize, entries: impl Fn(usize) -> f64) -> Option<(usize, f64)> {
        let mut doubt = RateChange::default();
        (0..n_looks).find_map(|i| {
            let gap = PollGap { secs: 7200.0, entries: entries(i), watched: 7200.0 };
            doubt.learn(gap, RATE);
            let span = doubt.changed()?;
            Some((i, span.entries / span.watched * 86_400.0))
        })
    }

    /// Repeatable, and not in step with anything.
    fn chance(i: usize) -> f64 {
        ((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1_u64 << 24) as f64
    }

    #[test]
    fn a_steady_feed_is_not_doubted_and_neither_are_its_bursts() {
        // Poisson's share of looks that find nothing, for three years.
        assert_eq!(told(13_000, |i| f64::from(chance(i) > 0.37)), None);
        // A dozen entries together, at one look in twelve.
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
