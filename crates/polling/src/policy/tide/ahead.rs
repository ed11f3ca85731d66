//! The rate ahead of a moment: a model's slots (hours of the week, of the day, or one rate) with
//! their minutes, and their sums. It chooses no look; it says which moment within a step is worth
//! one.
//!
//! ```
//! use feed::{Observation, Outcome, Time};
//! use polling::model::{Model, Rates};
//! use polling::{Bounds, Policy};
//!
//! // Nothing comes before noon: no look is planned for the morning.
//! let hours = (0..24).map(|h| if h < 12 { 0.0 } else { 1.0 / 3600.0 }).collect();
//! let model = Model::Frozen(Rates { hours, zone_secs: 0 });
//! let looked = Observation {
//!     at: Time::from_secs(3600), outcome: Outcome::Unchanged, window: &[], new: &[],
//!     overlap: 0, suspected_miss: false, partial: false, late: &[],
//! };
//! let policy: Policy = "tide:30m".parse().unwrap();
//! let learned = policy.start_on(model);
//! let wish = policy.wish(&learned, &looked, &Bounds::EVALUATION);
//! assert!(wish.at.secs() > 12 * 3600, "{}", wish.at);
//! ```

use feed::Time;

use super::outlook::HORIZON_MAX_SECS;
use crate::model::Course;
use crate::model::tide::Minutes;

/// Where moments are further apart than this, a minute does not matter.
const SNAP_SECS_MAX: f64 = 1800.0;

/// The rate ahead of a moment, slot by slot.
pub(super) struct Ahead<'a> {
    rates: &'a [f64],
    slot_secs: f64,
    minutes: &'a Minutes,
    slot: usize,
    /// Seconds gone of the first slot.
    gone: f64,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(course: &Course<'a>, at: Time) -> Ahead<'a> {
        let Course { rates, slot_ms, shift_ms, minutes } = *course;
        let ms = at.shifted(shift_ms).millis();
        let slot = ms.div_euclid(slot_ms).rem_euclid(rates.len() as i64) as usize;
        let gone = ms.rem_euclid(slot_ms) as f64 / 1000.0;
        Ahead { rates, slot_secs: slot_ms as f64 / 1000.0, minutes, slot, gone }
    }

    /// Seconds until W reaches `price`, at most the longest horizon.
    pub(super) fn until_waiting(&self, price: f64) -> f64 {
        let (mut t, mut expected, mut waiting) = (0.0, 0.0, 0.0);
        let mut slot = self.slot;
        let mut secs = self.slot_secs - self.gone;
        while t < HORIZON_MAX_SECS {
            let rate = self.rates[slot];
            let more = expected * secs + 0.5 * rate * secs * secs;
            if waiting + more >= price {
                let left = price - waiting;
                let root = (expected * expected + 2.0 * rate * left).sqrt();
                return t + 2.0 * left / (expected + root);
            }
            waiting += more;
            expected += rate * secs;
            t += secs;
            secs = self.slot_secs;
            slot = if slot + 1 == self.rates.len() { 0 } else { slot + 1 };
        }
        HORIZON_MAX_SECS
    }

    /// The moment in (from, to] at which a look is likely to find most: after the busiest minute
    /// where timers post, or else the last one.
    pub(super) fn worthwhile(&self, from: f64, to: f64) -> f64 {
        let (mut most, mut best) = (0.0, to);
        if !self.minutes.is_uneven() || to - from > SNAP_SECS_MAX {
            return best;
        }
        let (first, last) =
            ((self.gone + from) / self.slot_secs, (self.gone + to) / self.slot_secs);
        for slot in first as usize..=last as usize {
            let begin = slot as f64 * self.slot_secs - self.gone;
            let part = (from - begin).max(0.0)..(to - begin).min(self.slot_secs);
            let Some((end, factor)) = self.minutes.busiest(part) else { continue };
            let busy = factor * self.rates[(self.slot + slot) % self.rates.len()];
            if busy > most {
                (most, best) = (busy, begin + end);
            }
        }
        best
    }

    pub(super) fn sums(self) -> Sums<'a> {
        let (begin, within) = (-self.gone, self.minutes.sums(self.gone));
        Sums { slot: self.slot, ahead: self, begin, within, expected: 0.0, moment: 0.0 }
    }
}

/// Running sums over the slots ahead.
pub(super) struct Sums<'a> {
    pub(super) ahead: Ahead<'a>,
    slot: usize,
    /// Where the current slot begins; the first did before now.
    begin: f64,
    /// ∫ of the minutes' factors and their moments, from the slot's beginning to where we are.
    within: (f64, f64),
    expected: f64,
    moment: f64,
}

impl Sums<'_> {
    /// ∫ λ and ∫ s·λ from 0 to `to`, which never falls from one call to the next.
    pub(super) fn up_to(&mut self, to: f64) -> (f64, f64) {
        loop {
            let secs = (to - self.begin).min(self.ahead.slot_secs);
            let (a, a_moment) = self.within;
            let (b, b_moment) = self.ahead.minutes.sums(secs);
            let rate = self.ahead.rates[self.slot];
            self.expected += rate * (b - a);
            self.moment += rate * (b_moment - a_moment + self.begin * (b - a));
            self.within = (b, b_moment);
            if secs < self.ahead.slot_secs {
                return (self.expected, self.moment);
            }
            self.within = (0.0, 0.0);
            self.begin += self.ahead.slot_secs;
            self.slot = if self.slot + 1 == self.ahead.rates.len() { 0 } else { self.slot + 1 };
        }
    }
}
