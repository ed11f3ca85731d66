//! The looks ahead that cost least: waiting in entry-seconds plus a price for every look.
//!
//! Over a horizon of a few intervals, on a grid of moments t_i, the least cost from a look at t_i
//! on is V_i = min_j W(t_i, t_j) + price + V_j, from the end backwards. With the running sums
//! L_j = ∫ λ and A_j = ∫ s·λ the waiting is W = t_j·(L_j − L_i) − (A_j − A_i), a few operations.
//! The best j never falls as i rises (W has the quadrangle inequality), so each search ends where
//! the one after it ended. It knows no feed's history, only its rates.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::{Model, HourlyRates};
//! use polling::{Bounds, Policy};
//!
//! // At a constant rate W = λ·t²/2 = price: an entry an hour and half an hour make an hour.
//! let model = Model::Frozen(HourlyRates { hours: vec![1.0 / 3600.0; 24], zone_secs: 0 });
//! // The feed shows fifty entries: none will be lost.
//! let looked = Observation::seen(Time::from_secs(0), &[Time::from_secs(0); 50], &[]).with_overlap(0);
//! let policy: Policy = "tide:30m".parse().unwrap();
//! let learned = policy.start_on(model);
//! let wish = policy.wish(&learned, &looked, &Bounds::EVALUATION);
//! assert!((3400..3800).contains(&wish.at.secs()), "{}", wish.at);
//! ```

use std::time::Duration;

use feed::Time;

use super::cheapest::cheapest;
use super::overrun::OverrunRisk;
use super::rate_ahead::RateAhead;
use crate::model::RepeatingRate;
use crate::tuning::{Constant, tuned};

/// Moments of the grid.
const POINTS: usize = 64;
/// The horizon, in intervals of the simple rule W = price: enough that its end does not matter.
const INTERVALS: f64 = 6.0;
/// No horizon is shorter: below, looks would be seconds apart, and bounds forbid that.
const HORIZON_MIN_SECS: f64 = 600.0;
/// Nor longer: four weeks are the longest interval that anybody evaluates.
pub(super) const HORIZON_MAX_SECS: f64 = 28.0 * 86_400.0;

/// What is expected of the time ahead.
pub(super) struct Lookahead {
    price: f64,
    window: OverrunRisk,
    step: f64,
    /// The moments of the grid, in seconds from now: one in every step.
    at: [f64; POINTS + 1],
    /// ∫ λ and ∫ s·λ up to each moment of the grid.
    expected: [f64; POINTS + 1],
    moment: [f64; POINTS + 1],
    /// How many entries to reckon with up to each of them.
    feared: [f64; POINTS + 1],
    /// What bursts cost in so many steps, for each entry expected; nothing before `calm` steps.
    bursts: [f64; POINTS + 1],
    calm: usize,
}

/// A look, and what it will find.
pub(crate) struct PlannedPoll {
    pub(crate) after_secs: f64,
    pub(crate) expected: f64,
    /// Entry-seconds.
    waiting: f64,
}

impl PlannedPoll {
    /// How long an entry will have waited, on average.
    pub(crate) fn waited(&self) -> Duration {
        let secs = if self.expected > 0.0 { self.waiting / self.expected } else { 0.0 };
        Duration::from_secs(secs as u64)
    }
}

impl Lookahead {
    pub(super) fn new(
        repeating_rate: &RepeatingRate<'_>,
        at: Time,
        price: f64,
        window: OverrunRisk,
    ) -> Lookahead {
        let ahead = RateAhead::new(repeating_rate, at);
        let horizon = tuned(Constant::Horizon, INTERVALS) * ahead.until_waiting(price);
        let horizon = horizon.clamp(HORIZON_MIN_SECS, HORIZON_MAX_SECS);
        let step = horizon / POINTS as f64;
        let zeros = [0.0; POINTS + 1];
        let (mut at, mut expected, mut moment) = (zeros, zeros, zeros);
        let (mut timers, mut sums) = (ahead.timers(step), ahead.sums());
        for i in 1..=POINTS {
            at[i] = timers.worthwhile(i as f64 * step);
            (expected[i], moment[i]) = sums.up_to(at[i]);
        }
        let feared = std::array::from_fn(|i| window.feared(expected[i], at[i]));
        let calm = ((window.fastest_secs() / step) as usize).min(POINTS) + 1;
        let mut bursts = zeros;
        for (steps, cost) in bursts.iter_mut().enumerate().skip(calm) {
            *cost = window.burst(steps as f64 * step);
        }
        Lookahead { price, window, step, at, expected, moment, feared, bursts, calm }
    }

    /// W(t_i, t_j).
    fn waiting(&self, i: usize, j: usize) -> f64 {
        let expected = self.expected[j] - self.expected[i];
        self.at[j] * expected - (self.moment[j] - self.moment[i])
    }

    /// What the window may lose between two moments, in entry-seconds.
    fn lost(&self, i: usize, j: usize) -> f64 {
        let bursts = self.bursts[j - i] * (self.expected[j] - self.expected[i]);
        self.window.loss(self.feared[j] - self.feared[i]) + bursts
    }

    /// The share of waiting and price that falls within the horizon where the look after t_i lies
    /// beyond it. At a constant rate time costs λT a second from the last look on; with
    /// w = λx²/2 and price = λT²/2 that is λTx = 2·√(price·w). What is lost counts as waiting.
    fn unfinished(&self, i: usize) -> f64 {
        let mut waiting = self.waiting(i, POINTS);
        // From most moments on it is too long already.
        if waiting < self.price {
            waiting += self.lost(i, POINTS);
        }
        if waiting < self.price { 2.0 * (self.price * waiting).sqrt() } else { f64::INFINITY }
    }

    /// The least cost from each moment on, and where the first look comes.
    fn costs(&self) -> ([f64; POINTS + 1], usize) {
        let mut costs = [0.0; POINTS + 1];
        // W(t_i, t_j) + price + V_j = base_j − t_j·L_i + A_i: one product for every pair.
        let mut bases = [f64::INFINITY; POINTS + 1];
        let base = |j: usize| self.at[j] * self.expected[j] - self.moment[j] + self.price;
        bases[POINTS] = base(POINTS);
        let (mut last, mut full) = (POINTS, POINTS);
        let room = self.window.room(self.price);
        for i in (0..POINTS).rev() {
            let (seen, moment) = (self.expected[i], self.moment[i]);
            // Up to the first moment at which the room is used up nothing is lost, nor before a
            // burst can have filled the window.
            while full > i + 1 && self.feared[full - 1] - self.feared[i] > room {
                full -= 1;
            }
            let end = last.min(full).min(i + self.calm - 1);
            let (mut least, mut best) = if end > i {
                cheapest(&bases[..=end], &self.at[..=end], end - i, seen)
            } else {
                (f64::INFINITY, i + 1)
            };
            for (j, base) in bases.iter().enumerate().take(last + 1).skip(end + 1) {
                let cost = base - self.at[j] * seen + self.lost(i, j);
                if cost < least {
                    (least, best) = (cost, j);
                }
            }
            (costs[i], last) = (least + moment, best);
            let unfinished = self.unfinished(i);
            if unfinished < costs[i] {
                (costs[i], last) = (unfinished, POINTS);
            }
            bases[i] = base(i) + costs[i];
        }
        (costs, last)
    }

    pub(super) fn first_look(&self) -> PlannedPoll {
        let (costs, best) = self.costs();
        let cost = |j: usize| self.waiting(0, j) + costs[j];
        // A moment that was chosen for its minute is not moved.
        let is_chosen = self.at[best] < (best as f64 - 1e-6) * self.step;
        let after_secs = if best > 1 && best < POINTS && !is_chosen {
            // The lowest point of the parabola through the best moment and its neighbours.
            let (x, y, z) = (self.at[best - 1], self.at[best], self.at[best + 1]);
            let (before, after) = (cost(best - 1) - cost(best), cost(best + 1) - cost(best));
            let (p, q) = ((y - x) * after, (z - y) * before);
            let turn = 0.5 * ((z - y) * q - (y - x) * p) / (p + q);
            if turn.is_finite() { y + turn.clamp((x - y) / 2.0, (z - y) / 2.0) } else { y }
        } else {
            self.at[best]
        };
        let i = if after_secs < self.at[best] { best - 1 } else { best.min(POINTS - 1) };
        let share = (after_secs - self.at[i]) / (self.at[i + 1] - self.at[i]);
        let between = |sums: &[f64; POINTS + 1]| sums[i] + share * (sums[i + 1] - sums[i]);
        let expected = between(&self.expected);
        PlannedPoll { after_secs, expected, waiting: after_secs * expected - between(&self.moment) }
    }
}
