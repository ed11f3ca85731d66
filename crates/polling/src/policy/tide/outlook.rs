//! The looks ahead that cost least: waiting in entry-seconds plus a price for every look.
//!
//! Over a horizon of a few intervals, on a grid of moments t_i, the least cost from a look at t_i
//! on is V_i = min_j W(t_i, t_j) + price + V_j, from the end backwards. With the running sums
//! L_j = ∫ λ and A_j = ∫ s·λ the waiting is W = t_j·(L_j − L_i) − (A_j − A_i), a few operations.
//! The best j never falls as i rises (W has the quadrangle inequality), so each search ends where
//! the one after it ended. It knows no feed's history, only its rates.

use feed::Time;

use crate::model::tide::Tide;

/// Moments of the grid.
const POINTS: usize = 64;
/// The horizon, in intervals of the simple rule W = price: enough that its end does not matter.
const INTERVALS: f64 = 6.0;
/// No horizon is shorter: below, looks would be seconds apart, and bounds forbid that.
const HORIZON_MIN_SECS: f64 = 600.0;
/// Nor longer: four weeks are the longest interval that anybody evaluates.
const HORIZON_MAX_SECS: f64 = 28.0 * 86_400.0;
const HOUR_SECS: f64 = 3600.0;
const HOUR_MS: i64 = 3_600_000;

/// What is expected of the time ahead.
pub(super) struct Outlook {
    price: f64,
    /// Entries that may come before a look must.
    room: f64,
    step: f64,
    /// ∫ λ and ∫ s·λ up to each moment of the grid.
    expected: [f64; POINTS + 1],
    moment: [f64; POINTS + 1],
}

/// A look, and what it will find.
pub(super) struct Look {
    pub(super) after_secs: f64,
    pub(super) expected: f64,
    /// Entry-seconds.
    pub(super) waiting: f64,
}

impl Outlook {
    pub(super) fn new(tide: &Tide, at: Time, price: f64, room: f64) -> Outlook {
        let ahead = Ahead::new(tide, at);
        let horizon = INTERVALS * ahead.until_waiting(price);
        let horizon = horizon.clamp(HORIZON_MIN_SECS, HORIZON_MAX_SECS);
        let step = horizon / POINTS as f64;
        let (mut expected, mut moment) = ([0.0; POINTS + 1], [0.0; POINTS + 1]);
        let mut sums = ahead.sums();
        for i in 1..=POINTS {
            (expected[i], moment[i]) = sums.up_to(i as f64 * step);
        }
        Outlook { price, room, step, expected, moment }
    }

    /// W(t_i, t_j).
    fn waiting(&self, i: usize, j: usize) -> f64 {
        let expected = self.expected[j] - self.expected[i];
        j as f64 * self.step * expected - (self.moment[j] - self.moment[i])
    }

    /// The share of waiting and price that falls within the horizon where the look after t_i lies
    /// beyond it. At a constant rate time costs λT a second from the last look on; with
    /// w = λx²/2 and price = λT²/2 that is λTx = 2·√(price·w).
    fn unfinished(&self, i: usize) -> f64 {
        let waiting = self.waiting(i, POINTS);
        if waiting < self.price { 2.0 * (self.price * waiting).sqrt() } else { f64::INFINITY }
    }

    /// The least cost from each moment on, and where the first look comes.
    fn costs(&self) -> ([f64; POINTS + 1], usize) {
        let mut costs = [0.0; POINTS + 1];
        let mut last = POINTS;
        for i in (0..POINTS).rev() {
            let (mut least, mut best) = (self.unfinished(i), POINTS);
            for (j, then) in costs.iter().enumerate().take(last + 1).skip(i + 1) {
                let cost = self.waiting(i, j) + self.price + then;
                if cost < least {
                    (least, best) = (cost, j);
                }
                if self.expected[j] - self.expected[i] > self.room {
                    break;
                }
            }
            (costs[i], last) = (least, best);
        }
        (costs, last)
    }

    pub(super) fn first_look(&self) -> Look {
        let (costs, best) = self.costs();
        let cost = |j: usize| self.waiting(0, j) + costs[j];
        let mut steps = best as f64;
        if best > 1 && best < POINTS {
            // The lowest point of the parabola through the best moment and its neighbours.
            let (before, at, after) = (cost(best - 1), cost(best), cost(best + 1));
            let bend = before - 2.0 * at + after;
            if bend > 0.0 {
                steps += (0.5 * (before - after) / bend).clamp(-0.5, 0.5);
            }
        }
        let (low, share) = (steps.floor().min(POINTS as f64 - 1.0), steps - steps.floor());
        let i = low as usize;
        let between = |sums: &[f64; POINTS + 1]| sums[i] + share * (sums[i + 1] - sums[i]);
        let (expected, after_secs) = (between(&self.expected), steps * self.step);
        let waiting = after_secs * expected - between(&self.moment);
        Look { after_secs, expected, waiting }
    }
}

/// The rate ahead of a moment, hour by hour.
struct Ahead<'a> {
    rates: &'a [f64],
    hour: usize,
    /// Seconds gone of the first hour.
    gone: f64,
}

impl<'a> Ahead<'a> {
    fn new(tide: &'a Tide, at: Time) -> Ahead<'a> {
        let rates = tide.slots().rates;
        let hour = at.millis().div_euclid(HOUR_MS).rem_euclid(rates.len() as i64) as usize;
        Ahead { rates, hour, gone: at.millis().rem_euclid(HOUR_MS) as f64 / 1000.0 }
    }

    /// Seconds until W reaches `price`, at most the longest horizon.
    fn until_waiting(&self, price: f64) -> f64 {
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

    fn sums(self) -> Sums<'a> {
        let end = HOUR_SECS - self.gone;
        Sums { hour: self.hour, ahead: self, from: 0.0, end, expected: 0.0, moment: 0.0 }
    }
}

/// Running sums over the hours ahead.
struct Sums<'a> {
    ahead: Ahead<'a>,
    hour: usize,
    from: f64,
    /// Where the current hour ends.
    end: f64,
    expected: f64,
    moment: f64,
}

impl Sums<'_> {
    /// ∫ λ and ∫ s·λ from 0 to `to`, which never falls from one call to the next.
    fn up_to(&mut self, to: f64) -> (f64, f64) {
        loop {
            let until = to.min(self.end);
            let entries = self.ahead.rates[self.hour] * (until - self.from);
            self.expected += entries;
            self.moment += entries * 0.5 * (self.from + until);
            self.from = until;
            if to < self.end {
                return (self.expected, self.moment);
            }
            self.end += HOUR_SECS;
            self.hour = if self.hour + 1 == self.ahead.rates.len() { 0 } else { self.hour + 1 };
        }
    }
}
