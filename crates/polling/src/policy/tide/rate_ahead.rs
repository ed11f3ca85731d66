//! The rate ahead of a time: the slots of a model (hours of the week or day, or one rate) with
//! their minutes, and their running sums. It also finds the best time within a step.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::{Model, HourlyRates};
//! use polling::{Bounds, Policy};
//!
//! // Nothing comes before noon: no poll is planned for the morning.
//! let hours = (0..24).map(|h| if h < 12 { 0.0 } else { 1.0 / 3600.0 }).collect();
//! let model = Model::Frozen(HourlyRates { hours, zone_secs: 0 });
//! let polled = Observation::unchanged(Time::from_secs(3600), &[]);
//! let policy: Policy = "tide:30m".parse().unwrap();
//! let learned = policy.start_on(model);
//! let wish = policy.wish(&learned, &polled, &Bounds::EVALUATION);
//! assert!(wish.at.secs() > 12 * 3600, "{}", wish.at);
//! ```

use feed::Time;

use super::lookahead::HORIZON_MAX_SECS;
use crate::model::RepeatingRate;
use crate::model::tide::Minutes;

/// At larger steps the exact minute does not matter.
const SNAP_SECS_MAX: f64 = 1800.0;

/// The rate ahead of a time, slot by slot.
pub(super) struct RateAhead<'a> {
    rates: &'a [f64],
    slot_secs: f64,
    minutes: &'a Minutes,
    slot: usize,
    /// The seconds of the first slot that have passed.
    gone: f64,
}

impl<'a> RateAhead<'a> {
    pub(super) fn new(repeating_rate: &RepeatingRate<'a>, at: Time) -> RateAhead<'a> {
        let RepeatingRate { rates, slot_ms, shift_ms, minutes, .. } = *repeating_rate;
        let ms = at.shifted(shift_ms).millis();
        let slot = ms.div_euclid(slot_ms).rem_euclid(rates.len() as i64) as usize;
        let gone = ms.rem_euclid(slot_ms) as f64 / 1000.0;
        RateAhead { rates, slot_secs: slot_ms as f64 / 1000.0, minutes, slot, gone }
    }

    /// Returns the seconds until W reaches `price`, at most the longest horizon.
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
            slot = self.after(slot);
        }
        HORIZON_MAX_SECS
    }

    /// Returns the outstanding minutes ahead; none if a minute does not matter.
    pub(super) fn timers(&self, step: f64) -> TimerMinutes<'_> {
        let begin = -self.gone;
        let left = self.minutes.outstanding() & !Minutes::ended(self.gone);
        let mut timers = TimerMinutes {
            ahead: self,
            slot: self.slot,
            begin,
            left,
            next: f64::INFINITY,
            busy: 0.0,
        };
        if self.minutes.is_uneven() && step <= SNAP_SECS_MAX {
            timers.advance();
        }
        timers
    }

    pub(super) fn sums(&self) -> RunningSums<'_> {
        let (begin, within) = (-self.gone, self.minutes.sums(self.gone));
        RunningSums { ahead: self, slot: self.slot, begin, within, expected: 0.0, moment: 0.0 }
    }

    /// Returns the next slot.
    fn after(&self, slot: usize) -> usize {
        if slot + 1 == self.rates.len() { 0 } else { slot + 1 }
    }
}

/// An iterator over the outstanding minutes ahead.
pub(super) struct TimerMinutes<'a> {
    ahead: &'a RateAhead<'a>,
    slot: usize,
    /// The start of the current slot; that of the first is in the past.
    begin: f64,
    /// The outstanding minutes left in the slot.
    left: u64,
    /// The end of the next one, and its activity.
    next: f64,
    busy: f64,
}

impl TimerMinutes<'_> {
    fn advance(&mut self) {
        while self.left == 0 {
            self.left = self.ahead.minutes.outstanding();
            self.begin += self.ahead.slot_secs;
            self.slot = self.ahead.after(self.slot);
        }
        let (end, factor) = self.ahead.minutes.first_of(self.left);
        self.left &= self.left - 1;
        (self.next, self.busy) = (self.begin + end, factor * self.ahead.rates[self.slot]);
    }

    /// Returns the best time for a poll up to `to` and after the previous call: the end of the
    /// busiest outstanding minute, or `to`.
    pub(super) fn worthwhile(&mut self, to: f64) -> f64 {
        let (mut most, mut best) = (0.0, to);
        while self.next <= to {
            if self.busy >= most {
                (most, best) = (self.busy, self.next);
            }
            self.advance();
        }
        best
    }
}

/// Running sums over the slots ahead.
pub(super) struct RunningSums<'a> {
    ahead: &'a RateAhead<'a>,
    slot: usize,
    /// The start of the current slot; that of the first is in the past.
    begin: f64,
    /// ∫ of the minutes' factors and of their moments, from the start of the slot to the current
    /// time.
    within: (f64, f64),
    expected: f64,
    moment: f64,
}

impl RunningSums<'_> {
    /// Returns ∫ λ and ∫ s·λ from 0 to `to`, which must not fall between calls.
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
            self.slot = self.ahead.after(self.slot);
        }
    }
}
