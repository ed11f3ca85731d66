//! The price of a poll that spends a budget: the waiting, in entry-seconds, at which as many looks
//! are wanted over the time ahead as may be made.
//!
//! The models say what is wanted. A sample of feeds, each drawn as often as it is likely to be
//! looked at (√(value·λ), theorem 1 of the minimal-delay paper), is followed look by look to the
//! end of the budget's period at one price. The price is right where those looks use up what is
//! left. What was spent so far, feeds that came, hours that are quiet and looks that are overdue
//! are all in it; no error is waited for, so nothing swings. A price falls by and by, or all feeds
//! would be due at once.
//!
//! Where bytes are limited too, a poll costs partly the same for all feeds and partly by its size;
//! the share of the second grows while bytes are shorter than polls. It knows no domain and reads
//! no model itself.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // Twice the budget, twice the looks: the price gives way.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.0002));
//! planner.track(feed(0.0002));
//! planner.set_budget(Some("12/1h".parse().unwrap()));
//! let mut looks = [0, 0];
//! for minute in 1..=600 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         looks[number] += 1;
//!         let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert!((114..=126).contains(&(looks[0] + looks[1])), "{looks:?}");
//! ```

use feed::Time;

use super::CycleBudget;
use super::price_search::search;

/// Feeds that are asked. A fixed set of them is off by a few percent, which what is left evens out.
const SAMPLE: usize = 128;
/// Moments by which looks are counted.
pub(super) const MOMENTS: usize = 2;
/// A price stays within ten milliseconds and thirty years, whatever the budget.
pub(super) const RANGE: (f64, f64) = (0.01, 1e9);
/// By how much, as a logarithm, a price may always fall in a period: to a tenth in its seventh.
const FALL_PER_PERIOD: f64 = 16.0;
/// How fast bytes gain or lose importance.
const SHARE_STEP: f64 = 0.02;

/// What a poll costs now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Price {
    price: f64,
    /// How much of a poll's cost is its bytes, 0 to 1.
    share: f64,
    /// Σ √(value·λ) over all feeds.
    roots: f64,
    /// Bytes of one poll of each feed together, and of how many feeds.
    bytes: f64,
    n_feeds: u32,
    settled: Option<SettledPrice>,
}

/// When the price was settled, and for what.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SettledPrice {
    at: Time,
    per_sec: f64,
    roots: f64,
}

/// What one feed adds to the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PriceTerm {
    pub(super) root: f64,
    pub(super) bytes: f64,
}

impl Default for Price {
    fn default() -> Price {
        Price { price: 3600.0, share: 0.0, roots: 0.0, bytes: 0.0, n_feeds: 0, settled: None }
    }
}

impl Price {
    /// Begins with a price and a share of bytes that were stored.
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

    /// What a poll of so many bytes costs, as a multiple of the price.
    pub(super) fn beside_mean(&self, bytes: f64) -> f64 {
        if self.share <= 0.0 || self.bytes <= 0.0 {
            return 1.0;
        }
        let beside_mean = bytes.max(0.0) * f64::from(self.n_feeds) / self.bytes;
        1.0 - self.share + self.share * beside_mean
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

    /// Whether it is time to settle the price anew.
    pub(super) fn is_stale(&self, now: Time, purse: &CycleBudget) -> bool {
        let Some(settled) = self.settled else { return true };
        let grown = (self.roots / settled.roots - 1.0).abs();
        now >= settled.at + purse.settled_every()
            || now < settled.at
            || settled.per_sec != purse.per_sec
            // While feeds come by the thousand the price follows them.
            || grown > 0.1
    }

    /// The feeds to ask, and how many looks each look of theirs stands for.
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

    /// Settles the price; `wanted` says what a price comes to.
    pub(super) fn settle(
        &mut self,
        now: Time,
        purse: &CycleBudget,
        mut wanted: impl FnMut(f64) -> [ExpectedSpending; MOMENTS],
    ) {
        let (per_sec, roots) = (purse.per_sec, self.roots);
        let before = self.settled.replace(SettledPrice { at: now, per_sec, roots });
        if purse.per_sec <= 0.0 || self.n_feeds == 0 {
            return;
        }
        let mut by_bytes = false;
        let mut excess = |price: f64| {
            let beside = purse.beside(&wanted(price));
            by_bytes = beside.bytes > beside.looks;
            beside.bytes.max(beside.looks)
        };
        let mut price = search(self.price.ln(), &mut excess);
        if before.is_some_and(|before| before.per_sec == per_sec) {
            price = price.max(self.price.ln() - self.fall_max(purse));
        }
        self.price = price.exp().clamp(RANGE.0, RANGE.1);
        let step = if by_bytes { SHARE_STEP } else { -SHARE_STEP };
        self.share = (self.share + step).clamp(0.0, 1.0);
    }
    /// By how much the price may fall at once, as a logarithm. A price lower by a share δ brings
    /// forward n·δ/2 looks of n feeds: no more than are earned until it is settled anew.
    fn fall_max(&self, purse: &CycleBudget) -> f64 {
        let secs = purse.settled_every().as_secs_f64();
        let looks = 2.0 * purse.per_sec * secs / f64::from(self.n_feeds.max(1));
        looks.max(FALL_PER_PERIOD * secs / purse.period.as_secs_f64().max(1.0))
    }
}

/// What is wanted by a moment, or what that is beside what may be spent by then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExpectedSpending {
    pub(super) looks: f64,
    pub(super) bytes: f64,
}
