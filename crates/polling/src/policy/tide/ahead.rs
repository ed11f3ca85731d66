//! The rate ahead of a moment: the model's hours of the week with their minutes, and their sums.
//! It chooses no look; it says which moment within a step is worth one.

use feed::Time;

use super::outlook::HORIZON_MAX_SECS;
use crate::model::tide::{Minutes, Tide};

/// Where moments are further apart than this, a minute does not matter.
const SNAP_SECS_MAX: f64 = 1800.0;
const HOUR_SECS: f64 = 3600.0;
const HOUR_MS: i64 = 3_600_000;

/// The rate ahead of a moment, hour by hour.
pub(super) struct Ahead<'a> {
    rates: &'a [f64],
    minutes: &'a Minutes,
    hour: usize,
    /// Seconds gone of the first hour.
    gone: f64,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(tide: &'a Tide, at: Time) -> Ahead<'a> {
        let rates = tide.slots().rates;
        let hour = at.millis().div_euclid(HOUR_MS).rem_euclid(rates.len() as i64) as usize;
        let minutes = tide.minutes();
        Ahead { rates, minutes, hour, gone: at.millis().rem_euclid(HOUR_MS) as f64 / 1000.0 }
    }

    /// Seconds until W reaches `price`, at most the longest horizon.
    pub(super) fn until_waiting(&self, price: f64) -> f64 {
        let (mut t, mut expected, mut waiting) = (0.0, 0.0, 0.0);
        let mut hour = self.hour;
        let mut secs = HOUR_SECS - self.gone;
        while t < HORIZON_MAX_SECS {
            let rate = self.rates[hour];
            let more = expected * secs + 0.5 * rate * secs * secs;
            if waiting + more >= price {
                let left = price - waiting;
                let root = (expected * expected + 2.0 * rate * left).sqrt();
                return t + 2.0 * left / (expected + root);
            }
            waiting += more;
            expected += rate * secs;
            t += secs;
            secs = HOUR_SECS;
            hour = if hour + 1 == self.rates.len() { 0 } else { hour + 1 };
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
        let (first, last) = ((self.gone + from) / HOUR_SECS, (self.gone + to) / HOUR_SECS);
        for hour in first as usize..=last as usize {
            let begin = hour as f64 * HOUR_SECS - self.gone;
            let part = (from - begin).max(0.0)..(to - begin).min(HOUR_SECS);
            let Some((end, factor)) = self.minutes.busiest(part) else { continue };
            let busy = factor * self.rates[(self.hour + hour) % self.rates.len()];
            if busy > most {
                (most, best) = (busy, begin + end);
            }
        }
        best
    }

    pub(super) fn sums(self) -> Sums<'a> {
        let (begin, within) = (-self.gone, self.minutes.sums(self.gone));
        Sums { hour: self.hour, ahead: self, begin, within, expected: 0.0, moment: 0.0 }
    }
}

/// Running sums over the hours ahead.
pub(super) struct Sums<'a> {
    pub(super) ahead: Ahead<'a>,
    hour: usize,
    /// Where the current hour begins; the first did before now.
    begin: f64,
    /// ∫ of the minutes' factors and their moments, from the hour's beginning to where we are.
    within: (f64, f64),
    expected: f64,
    moment: f64,
}

impl Sums<'_> {
    /// ∫ λ and ∫ s·λ from 0 to `to`, which never falls from one call to the next.
    pub(super) fn up_to(&mut self, to: f64) -> (f64, f64) {
        loop {
            let secs = (to - self.begin).min(HOUR_SECS);
            let (a, a_moment) = self.within;
            let (b, b_moment) = self.ahead.minutes.sums(secs);
            let rate = self.ahead.rates[self.hour];
            self.expected += rate * (b - a);
            self.moment += rate * (b_moment - a_moment + self.begin * (b - a));
            self.within = (b, b_moment);
            if secs < HOUR_SECS {
                return (self.expected, self.moment);
            }
            self.within = (0.0, 0.0);
            self.begin += HOUR_SECS;
            self.hour = if self.hour + 1 == self.ahead.rates.len() { 0 } else { self.hour + 1 };
        }
    }
}
