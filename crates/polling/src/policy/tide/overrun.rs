//! What a window may lose between two looks, and what that costs.
//!
//! - A window overruns long before it is full on average, for entries come in bursts: of m entries
//!   expected at a window of w, m/7·(m/w)⁶ count as lost, and each further one beyond w.
//! - Of a feed that is hardly known more is to be feared. Its rate may be higher: the seventh root
//!   of the seventh moment of a Gamma distribution of shape a is 1 + 3/a beside its mean, near
//!   enough, and w is smaller by that. And its quiet hours may be busy ones: what is feared is
//!   spread over the day.
//! - A feed that has filled its window in s seconds will again: an entry that comes at a random
//!   moment of a gap of t seconds is lost with probability 1 − s/t, if such a burst follows it.
//!
//! All three are convex in the gap. Nothing here chooses a look.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! // An entry an hour for a day and a night, and polls so dear that a window might fill.
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

/// The shape of the rate of a feed nobody knows, in entries.
const SHAPE: f64 = 2.0;
/// So many entries say as much about the hours as "any hour" does.
const ANY_HOUR: f64 = 30.0;
/// What is lost may be overlooked while it costs less than this share of the price.
const OVERLOOKED: f64 = 0.02;
/// How much of the price of a miss counts for one that is reckoned from bursts. The others are
/// feared, hardly ever suffered, and priced accordingly; these are counted. At the default price an
/// entry is then worth five hours' waiting; three times as much costs 3 % of delay.
const COUNTED: f64 = 3e-4;

/// How many entries a feed shows, and what it costs to lose one, in entry-seconds.
#[derive(Clone, Copy)]
pub(super) struct OverrunRisk {
    size: f64,
    miss: f64,
    /// How much of what is feared comes at any hour alike, and how much that is a second.
    doubt: f64,
    rate: f64,
    bursts: Bursts,
}

impl OverrunRisk {
    pub(super) fn new(model: &Model, shown: u32, miss: f64) -> OverrunRisk {
        let size = f64::from(shown.max(WINDOW_MIN));
        let Model::Tide(tide) = model else {
            return OverrunRisk { size, miss, doubt: 0.0, rate: 0.0, bursts: Bursts::default() };
        };
        let shape = tide.n_known() + SHAPE;
        let size = size * shape / (shape + 3.0);
        let doubt = ANY_HOUR / (shape + ANY_HOUR);
        OverrunRisk { size, miss, doubt, rate: tide.rate(), bursts: *tide.bursts() }
    }

    /// How many entries to reckon with where so many are expected in so many seconds.
    pub(super) fn feared(&self, expected: f64, secs: f64) -> f64 {
        expected + self.doubt * (self.rate * secs - expected)
    }

    /// What it costs that so many entries are feared between two looks.
    pub(super) fn loss(&self, feared: f64) -> f64 {
        let full = feared / self.size;
        let lost = if full < 1.0 { full.powi(7) / 7.0 } else { full - 6.0 / 7.0 };
        self.miss * self.size * lost
    }

    /// How many entries may be feared before a loss counts beside the price.
    pub(super) fn room(&self, price: f64) -> f64 {
        self.size * (7.0 * OVERLOOKED * price / (self.miss * self.size)).powf(1.0 / 7.0)
    }

    /// In how many seconds the window filled at its fastest.
    pub(super) fn fastest_secs(&self) -> f64 {
        let mut spans = self.bursts.spans().filter(|(_, share)| *share > 0.0);
        spans.next().map_or(f64::INFINITY, |(secs, _)| secs)
    }

    /// What bursts cost in a gap of so many seconds, for each entry that is expected in it.
    pub(super) fn burst(&self, gap_secs: f64) -> f64 {
        let lost = |(secs, share): (f64, f64)| share * (gap_secs - secs).max(0.0);
        COUNTED * self.miss * self.bursts.spans().map(lost).sum::<f64>() / gap_secs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelKind;
    use feed::{Observation, Time};

    const DAY: f64 = 86_400.0;

    /// A window of twenty at a feed with so many entries, `apart_secs` each, looked at daily.
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
        // A night in which nothing is expected.
        assert!(new.feared(0.0, DAY / 2.0) > 3.0 * known.feared(0.0, DAY / 2.0));
        // All of them are sure that a window which is full on average loses each further entry.
        for window in [new, known] {
            let further = window.loss(41.0) - window.loss(40.0);
            assert!((further / DAY - 1.0).abs() < 1e-9, "{further}");
        }
    }

    #[test]
    fn bursts_cost_nothing_until_they_can_have_filled_the_window() {
        let calm = window(400, 43_200);
        assert_eq!((calm.fastest_secs(), calm.burst(DAY)), (f64::INFINITY, 0.0));
        // Twenty entries a minute apart fill it in nineteen minutes: ten to twenty.
        let bursty = window(20, 60);
        assert_eq!((bursty.fastest_secs(), bursty.burst(600.0)), (600.0, 0.0));
        let (hour, day) = (bursty.burst(3600.0), bursty.burst(DAY));
        // Twenty of twenty and the five of the prior, five sixths of them in a gap of an hour.
        assert!((hour - COUNTED * DAY * (20.0 / 25.0) * (5.0 / 6.0)).abs() < 1e-6, "{hour}");
        assert!(hour < day && day < COUNTED * DAY);
    }
}
