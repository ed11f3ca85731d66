//! The risk that a window loses entries between two polls, and its cost.
//!
//! - Entries come in bursts, so a window overruns long before it is full on average. With m entries
//!   expected and a window of w, m/7·(m/w)⁶ count as lost, and each further one beyond w.
//! - The rate of a new feed is uncertain, so the risk plans for more entries than its mean
//!   predicts. The seventh root of the seventh moment of a Gamma distribution of shape a is about
//!   (1 + 3/a) times its mean; w shrinks by that factor. The quiet hours of a new feed may be busy
//!   ones, so part of the estimate is spread evenly over the day.
//! - A feed that has filled its window in s seconds will do so again. In an interval of t seconds
//!   an entry at a random time is lost with probability 1 − s/t, if such a burst follows it.
//!
//! All three are convex in the interval.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! // An entry an hour for a day and a night, and polls so expensive that a window might fill.
//! let at = Time::from_secs(0);
//! let hourly: Vec<Time> = (1..=24).rev().map(|h| at.shifted(-h * 3_600_000)).collect();
//! let seen = Observation::first(at, &hourly);
//! let wait_hours = |policy: &str| {
//!     let policy: Policy = policy.parse().unwrap();
//!     let mut learned = policy.start();
//!     policy.learn(&mut learned, &seen);
//!     policy.wish(&learned, &seen, &Bounds::EVALUATION).at.since(at).as_secs() / 3600
//! };
//! assert!(wait_hours("tide:10d,730d") < wait_hours("tide:10d,1m") * 2 / 3);
//! ```

use crate::model::Model;
use crate::model::tide::{Bursts, WINDOW_MIN};

/// The shape parameter for an unknown feed, in entries.
const SHAPE: f64 = 2.0;
/// The number of entries at which the learned hours count as much as an even day.
const ANY_HOUR: f64 = 30.0;
/// A loss below this share of the price is ignored.
const NEGLIGIBLE_LOSS: f64 = 0.02;
/// The share of the price of a miss that counts for losses by bursts. The other losses are cautious
/// estimates and rarely happen; these are real counts. At the default price an entry is then worth
/// five hours of waiting. Three times as much costs 3 % of delay.
const BURST_MISS_SHARE: f64 = 3e-4;

/// The size of a window, and the cost of losing an entry, in entry-seconds.
#[derive(Clone, Copy)]
pub(super) struct OverrunRisk {
    size: f64,
    miss: f64,
    /// The part of the estimate that is spread evenly, and its rate per second.
    even_share: f64,
    rate: f64,
    bursts: Bursts,
}

impl OverrunRisk {
    pub(super) fn new(model: &Model, shown: u32, miss: f64) -> OverrunRisk {
        let size = f64::from(shown.max(WINDOW_MIN));
        let Model::Tide(tide) = model else {
            return OverrunRisk {
                size,
                miss,
                even_share: 0.0,
                rate: 0.0,
                bursts: Bursts::default(),
            };
        };
        let shape = tide.n_known() + SHAPE;
        let size = size * shape / (shape + 3.0);
        let even_share = ANY_HOUR / (shape + ANY_HOUR);
        OverrunRisk { size, miss, even_share, rate: tide.rate(), bursts: *tide.bursts() }
    }

    /// Returns the cautious estimate for `expected` entries in `secs` seconds.
    pub(super) fn cautious(&self, expected: f64, secs: f64) -> f64 {
        expected + self.even_share * (self.rate * secs - expected)
    }

    /// Returns the cost of a cautious estimate between two polls.
    pub(super) fn loss(&self, cautious: f64) -> f64 {
        let full = cautious / self.size;
        let lost = if full < 1.0 { full.powi(7) / 7.0 } else { full - 6.0 / 7.0 };
        self.miss * self.size * lost
    }

    /// Returns the estimate below which a loss is negligible compared with the price.
    pub(super) fn room(&self, price: f64) -> f64 {
        self.size * (7.0 * NEGLIGIBLE_LOSS * price / (self.miss * self.size)).powf(1.0 / 7.0)
    }

    /// Returns the shortest time in which the window has filled, in seconds.
    pub(super) fn fastest_secs(&self) -> f64 {
        let mut spans = self.bursts.spans().filter(|(_, share)| *share > 0.0);
        spans.next().map_or(f64::INFINITY, |(secs, _)| secs)
    }

    /// Returns the cost of bursts in an interval of `gap_secs`, per expected entry.
    pub(super) fn burst(&self, gap_secs: f64) -> f64 {
        let lost = |(secs, share): (f64, f64)| share * (gap_secs - secs).max(0.0);
        BURST_MISS_SHARE * self.miss * self.bursts.spans().map(lost).sum::<f64>() / gap_secs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelKind;
    use feed::{Observation, Time};

    const DAY: f64 = 86_400.0;

    /// A window of twenty, of a feed with `n` entries, `apart_secs` apart, polled daily.
    fn window(n: i64, apart_secs: i64) -> OverrunRisk {
        let mut model = ModelKind::Tide.start();
        let times: Vec<Time> = (0..n).map(|k| Time::from_secs(k * apart_secs)).collect();
        let mut known = 0;
        for day in 1..=(n * apart_secs / 86_400 + 1) {
            let at = Time::from_secs(day * 86_400);
            let seen = times.iter().filter(|time| **time < at).count();
            model.learn(
                &Observation::seen(
                    at,
                    &times[seen.saturating_sub(20)..seen],
                    &times[known.max(seen.saturating_sub(20))..seen],
                )
                .with_overlap(0),
            );
            known = seen;
        }
        OverrunRisk::new(&model, 20, DAY)
    }

    #[test]
    fn more_is_feared_of_a_feed_that_is_hardly_known() {
        let (new, known) = (window(3, 43_200), window(400, 43_200));
        assert!(new.loss(10.0) > 20.0 * known.loss(10.0));
        // A night without expected entries.
        assert!(new.cautious(0.0, DAY / 2.0) > 3.0 * known.cautious(0.0, DAY / 2.0));
        // A window that is full on average loses each further entry, in both cases.
        for window in [new, known] {
            let further = window.loss(41.0) - window.loss(40.0);
            assert!((further / DAY - 1.0).abs() < 1e-9, "{further}");
        }
    }

    #[test]
    fn bursts_cost_nothing_until_they_can_have_filled_the_window() {
        let calm = window(400, 43_200);
        assert_eq!((calm.fastest_secs(), calm.burst(DAY)), (f64::INFINITY, 0.0));
        // Twenty entries a minute apart fill it in nineteen minutes: the class of ten to twenty.
        let bursty = window(20, 60);
        assert_eq!((bursty.fastest_secs(), bursty.burst(600.0)), (600.0, 0.0));
        let (hour, day) = (bursty.burst(3600.0), bursty.burst(DAY));
        // Twenty entries of twenty plus five of the prior; an hour's interval loses five sixths of
        // them.
        assert!(
            (hour - BURST_MISS_SHARE * DAY * (20.0 / 25.0) * (5.0 / 6.0)).abs() < 1e-6,
            "{hour}"
        );
        assert!(hour < day && day < BURST_MISS_SHARE * DAY);
    }
}
