//! The price of a poll under a budget: the waiting, in entry-seconds, at which the expected polls
//! of the time ahead use up the budget.
//!
//! The expected polls come from the models. A sample of feeds is simulated poll by poll to the end
//! of the budget's period at one price. Each feed is drawn with probability proportional to
//! √(value·λ) (theorem 1 of the minimal-delay paper). The search finds the price at which those
//! polls use up the rest of the budget. It accounts for past spending, new feeds, quiet hours and
//! overdue polls. There is no error feedback, so the price does not oscillate. It falls slowly;
//! otherwise all feeds would be due at once.
//!
//! If bytes are limited too, a part of the cost is equal for all feeds and a part is proportional
//! to the size. The second part grows while bytes are scarcer than polls.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // Twice the budget, twice the polls: the price falls.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.0002));
//! planner.track(feed(0.0002));
//! planner.set_budget(Some("12/1h".parse().unwrap()));
//! let mut polls = [0, 0];
//! for minute in 1..=600 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         polls[number] += 1;
//!         let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert!((114..=126).contains(&(polls[0] + polls[1])), "{polls:?}");
//! ```

use feed::Time;

use super::CycleBudget;
use super::price_search::search;

/// The number of sampled feeds. A fixed sample is off by a few percent, which later adjustments
/// correct.
const SAMPLE: usize = 128;
/// The number of times at which spending is compared.
pub(super) const MOMENTS: usize = 2;
/// The range of the price: ten milliseconds to thirty years.
pub(super) const RANGE: (f64, f64) = (0.01, 1e9);
/// The largest fall of the price per period, as a logarithm: to a tenth within a seventh of it.
const FALL_PER_PERIOD: f64 = 16.0;
/// The step of the share of bytes.
const SHARE_STEP: f64 = 0.02;

/// The price of a poll.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Price {
    price: f64,
    /// The share of bytes in the cost of a poll, 0 to 1.
    share: f64,
    /// Σ √(value·λ) over all feeds.
    roots: f64,
    /// The bytes of one poll of every feed, and the number of feeds.
    bytes: f64,
    n_feeds: u32,
    adjusted: Option<PriceAdjustment>,
}

/// The time of the last adjustment, and its conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PriceAdjustment {
    at: Time,
    per_sec: f64,
    roots: f64,
}

/// The terms of one feed in the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PriceTerm {
    pub(super) root: f64,
    pub(super) bytes: f64,
}

impl Default for Price {
    fn default() -> Price {
        Price { price: 3600.0, share: 0.0, roots: 0.0, bytes: 0.0, n_feeds: 0, adjusted: None }
    }
}

impl Price {
    /// Restores a stored price and share of bytes.
    pub(super) fn resume(&mut self, price: f64, share: f64) {
        if price.is_finite() && share.is_finite() {
            (self.price, self.share) = (price.clamp(RANGE.0, RANGE.1), share.clamp(0.0, 1.0));
        }
    }

    pub(super) fn now(&self) -> f64 {
        self.price
    }

    pub(super) fn share(&self) -> f64 {
        self.share
    }

    /// Returns the cost of a poll of `bytes`, as a multiple of the price.
    pub(super) fn relative_cost(&self, bytes: f64) -> f64 {
        if self.share <= 0.0 || self.bytes <= 0.0 {
            return 1.0;
        }
        let relative_cost = bytes.max(0.0) * f64::from(self.n_feeds) / self.bytes;
        1.0 - self.share + self.share * relative_cost
    }

    pub(super) fn add(&mut self, part: PriceTerm) {
        self.n_feeds += 1;
        self.roots += part.root;
        self.bytes += part.bytes;
    }

    pub(super) fn subtract(&mut self, part: PriceTerm) {
        self.n_feeds -= 1;
        self.roots = (self.roots - part.root).max(0.0);
        self.bytes = (self.bytes - part.bytes).max(0.0);
    }

    /// Returns whether the price must be adjusted.
    pub(super) fn is_stale(&self, now: Time, budget: &CycleBudget) -> bool {
        let Some(adjusted) = self.adjusted else { return true };
        let grown = (self.roots / adjusted.roots - 1.0).abs();
        now >= adjusted.at + budget.adjusted_every()
            || now < adjusted.at
            || adjusted.per_sec != budget.per_sec
            // Follow a fast growth of the number of feeds.
            || grown > 0.1
    }

    /// Returns the sampled feeds, and the number of polls that each of their polls represents.
    pub(super) fn sample(&self, roots: impl Iterator<Item = (u32, f64)>) -> Vec<(u32, f64)> {
        let step = self.roots / SAMPLE as f64;
        let (mut sum, mut next) = (0.0, step / 2.0);
        let mut sample = Vec::new();
        for (feed, root) in roots {
            sum += root;
            let drawn = ((sum - next) / step).floor() + 1.0;
            if self.n_feeds as usize <= SAMPLE {
                sample.push((feed, 1.0));
            } else if drawn >= 1.0 {
                next += drawn * step;
                sample.push((feed, drawn * step / root));
            }
        }
        sample
    }

    /// Adjusts the price. `wanted` returns the expected spending at a price.
    pub(super) fn adjust(
        &mut self,
        now: Time,
        budget: &CycleBudget,
        mut wanted: impl FnMut(f64) -> [ExpectedSpending; MOMENTS],
    ) {
        let (per_sec, roots) = (budget.per_sec, self.roots);
        let before = self.adjusted.replace(PriceAdjustment { at: now, per_sec, roots });
        if budget.per_sec <= 0.0 || self.n_feeds == 0 {
            return;
        }
        let mut by_bytes = false;
        let mut excess = |price: f64| {
            let relative = budget.relative_spending(&wanted(price));
            by_bytes = relative.bytes > relative.polls;
            relative.bytes.max(relative.polls)
        };
        let mut price = search(self.price.ln(), &mut excess);
        if before.is_some_and(|before| before.per_sec == per_sec) {
            price = price.max(self.price.ln() - self.fall_max(budget));
        }
        self.price = price.exp().clamp(RANGE.0, RANGE.1);
        let step = if by_bytes { SHARE_STEP } else { -SHARE_STEP };
        self.share = (self.share + step).clamp(0.0, 1.0);
    }
    /// Returns the largest fall of the price in one adjustment, as a logarithm. A price lower by a
    /// share δ advances n·δ/2 polls of n feeds: no more than are earned until the next adjustment.
    fn fall_max(&self, budget: &CycleBudget) -> f64 {
        let secs = budget.adjusted_every().as_secs_f64();
        let polls = 2.0 * budget.per_sec * secs / f64::from(self.n_feeds.max(1));
        polls.max(FALL_PER_PERIOD * secs / budget.period.as_secs_f64().max(1.0))
    }
}

/// The expected spending up to a time, absolute or relative to the available amounts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExpectedSpending {
    pub(super) polls: f64,
    pub(super) bytes: f64,
}
