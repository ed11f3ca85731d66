//! Plans the polls ahead with the least cost: waiting in entry-seconds plus a price for every poll.
//!
//! The plan covers a horizon of a few intervals on a grid of times t_i. The least cost after a poll
//! at t_i is V_i = min_j W(t_i, t_j) + price + V_j, computed backwards. With the running sums L_j =
//! ∫ λ and A_j = ∫ s·λ the waiting is W = t_j·(L_j − L_i) − (A_j − A_i). The best j never falls as
//! i rises (W has the quadrangle inequality), so each search ends where the previous one ended.
//! Input is the rate only, not the history.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::{Model, HourlyRates};
//! use polling::{Bounds, Policy};
//!
//! // At a constant rate W = λ·t²/2 = price: an entry an hour and half an hour make an hour.
//! let model = Model::Frozen(HourlyRates { hours: vec![1.0 / 3600.0; 24], zone_secs: 0 });
//! // The feed shows fifty entries: none will be lost.
//! let shown = [Time::from_secs(0); 50];
//! let polled = Observation::seen(Time::from_secs(0), &shown, &[]).with_overlap(0);
//! let policy: Policy = "tide:30m".parse().unwrap();
//! let learned = policy.start_on(model);
//! let wish = policy.wish(&learned, &polled, &Bounds::EVALUATION);
//! assert!((3400..3800).contains(&wish.at.secs()), "{}", wish.at);
//! ```

use std::time::Duration;

use feed::Time;

use super::cheapest::cheapest;
use super::overrun::OverrunRisk;
use super::rate_ahead::RateAhead;
use crate::model::RepeatingRate;
use crate::tuning::{Constant, tuned};

/// The times of the grid.
const POINTS: usize = 64;
/// The horizon in intervals of the simple rule W = price: long enough that its end does not matter.
const INTERVALS: f64 = 6.0;
/// A shorter horizon would place polls seconds apart, which the bounds forbid.
const HORIZON_MIN_SECS: f64 = 600.0;
/// The longest horizon: four weeks, the longest interval of the published evaluation.
pub(super) const HORIZON_MAX_SECS: f64 = 28.0 * 86_400.0;

/// The expected entries and losses of the time ahead.
pub(super) struct Lookahead {
    price: f64,
    window: OverrunRisk,
    step: f64,
    /// The times of the grid, in seconds from now: one in every step.
    at: [f64; POINTS + 1],
    /// ∫ λ and ∫ s·λ up to each time of the grid.
    expected: [f64; POINTS + 1],
    moment: [f64; POINTS + 1],
    /// The cautious estimate of entries up to each time.
    cautious: [f64; POINTS + 1],
    /// The cost of bursts in an interval of this many steps, per expected entry; zero before `calm`
    /// steps.
    bursts: [f64; POINTS + 1],
    calm: usize,
}

/// Corrects the running sums by what the feed did lately; for experiments only.
#[cfg(feature = "tuning")]
fn corrected(
    tide: &crate::model::tide::TideModel,
    from: Time,
    at: &[f64; POINTS + 1],
    expected: &mut [f64; POINTS + 1],
    moment: &mut [f64; POINTS + 1],
) {
    use crate::model::tide::correction::{Correction, with_correction};
    use crate::model::tide::recent_factors::{FeedFactors, factors};

    let mut multiply = |factor: &dyn Fn(f64, f64, f64) -> f64| {
        let (mut before, mut moment_before) = (0.0, 0.0);
        for i in 1..=POINTS {
            let (more, more_moment) = (expected[i] - before, moment[i] - moment_before);
            (before, moment_before) = (expected[i], moment[i]);
            let factor = factor(at[i - 1], at[i] - at[i - 1], more);
            expected[i] = expected[i - 1] + factor * more;
            moment[i] = moment[i - 1] + factor * more_moment;
        }
    };
    with_correction(|weights| {
        let correction = Correction::new(weights, tide, from);
        multiply(&|from, secs, more| correction.of_step(from, secs, more));
    });
    if let Some(factors) = factors() {
        let feed = FeedFactors::new(&factors, tide, from);
        multiply(&|from, secs, more| feed.of_step(from, secs, more));
    }
}

/// A planned poll and its expected result.
pub(crate) struct PlannedPoll {
    pub(crate) after_secs: f64,
    pub(crate) expected: f64,
    /// Entry-seconds.
    waiting: f64,
}

impl PlannedPoll {
    /// Returns the mean wait of an entry.
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
        #[cfg(feature = "tuning")]
        let start = at;
        let (mut at, mut expected, mut moment) = (zeros, zeros, zeros);
        let (mut timers, mut sums) = (ahead.timers(step), ahead.sums());
        for i in 1..=POINTS {
            at[i] = timers.worthwhile(i as f64 * step);
            (expected[i], moment[i]) = sums.up_to(at[i]);
        }
        #[cfg(feature = "tuning")]
        if let Some(tide) = repeating_rate.corrected {
            corrected(tide, start, &at, &mut expected, &mut moment);
        }
        let cautious = std::array::from_fn(|i| window.cautious(expected[i], at[i]));
        let calm = ((window.fastest_secs() / step) as usize).min(POINTS) + 1;
        let mut bursts = zeros;
        for (steps, cost) in bursts.iter_mut().enumerate().skip(calm) {
            *cost = window.burst(steps as f64 * step);
        }
        Lookahead { price, window, step, at, expected, moment, cautious, bursts, calm }
    }

    /// W(t_i, t_j).
    fn waiting(&self, i: usize, j: usize) -> f64 {
        let expected = self.expected[j] - self.expected[i];
        self.at[j] * expected - (self.moment[j] - self.moment[i])
    }

    /// Returns the expected loss of the window between two times, in entry-seconds.
    fn lost(&self, i: usize, j: usize) -> f64 {
        let bursts = self.bursts[j - i] * (self.expected[j] - self.expected[i]);
        self.window.loss(self.cautious[j] - self.cautious[i]) + bursts
    }

    /// Returns the part of waiting and price within the horizon if the poll after t_i lies beyond
    /// it. At a constant rate time costs λT per second after the last poll. With w = λx²/2 and
    /// price = λT²/2 that is λTx = 2·√(price·w). Losses count as waiting.
    fn unfinished(&self, i: usize) -> f64 {
        let mut waiting = self.waiting(i, POINTS);
        // From most times on the waiting alone is too long already.
        if waiting < self.price {
            waiting += self.lost(i, POINTS);
        }
        if waiting < self.price { 2.0 * (self.price * waiting).sqrt() } else { f64::INFINITY }
    }

    /// Returns the least cost from each time on, and the index of the first poll.
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
            // Nothing is lost before the window's room is used up, nor before a burst can have
            // filled it.
            while full > i + 1 && self.cautious[full - 1] - self.cautious[i] > room {
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

    pub(super) fn first_poll(&self) -> PlannedPoll {
        let (costs, best) = self.costs();
        let cost = |j: usize| self.waiting(0, j) + costs[j];
        // A time that was chosen for its minute is not moved.
        let is_chosen = self.at[best] < (best as f64 - 1e-6) * self.step;
        let after_secs = if best > 1 && best < POINTS && !is_chosen {
            // The minimum of the parabola through the best time and its neighbours.
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
