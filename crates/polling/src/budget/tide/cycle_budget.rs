//! The amounts that `tide` may spend: now, until its period ends, and per second afterwards.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // Sixty polls in ten hours, and six in each of them.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.01));
//! planner.track(feed(0.01));
//! planner.set_budget(Some("6/1h".parse().unwrap()));
//! let mut polls = [0; 10];
//! for minute in 0..600 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         polls[minute as usize / 60] += 1;
//!         let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert_eq!(polls, [6; 10]);
//! ```

use std::time::Duration;

use crate::budget::allocation::DailyLimits;
use crate::budget::allowance::SpendingGrant;

use super::price::{ExpectedSpending, MOMENTS};

const DAY_SECS: f64 = 86_400.0;
/// How often per period the price is adjusted, and the smallest number of cycles between
/// adjustments.
const ADJUSTED_PER_PERIOD: u32 = 48;
const ADJUSTED_CYCLES: u32 = 5;
/// This many polls of the next period always count: the rest of a few polls says little.
const FEW: f64 = 8.0;
/// The price never assumes less than this part of an even share: the next period would have to
/// lower it again.
const LEFT_MIN: f64 = 0.1;

/// The amounts that may be spent, and the time for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CycleBudget {
    pub(super) polls: usize,
    /// The polls that would expire.
    pub(super) expiring: usize,
    pub(super) per_sec: f64,
    /// Infinite if bytes are not limited.
    pub(super) bytes: f64,
    /// The amounts until the period ends, and the time until then.
    pub(super) left: f64,
    pub(super) bytes_left: f64,
    pub(super) ends_in: Duration,
    pub(super) bytes_per_sec: f64,
    /// The period of the budget.
    pub(super) period: Duration,
    /// The time between two plans.
    pub(super) cycle: Duration,
}

impl CycleBudget {
    pub(crate) fn new(
        granted: SpendingGrant,
        limits: DailyLimits,
        period: Duration,
        cycle: Duration,
    ) -> CycleBudget {
        CycleBudget {
            polls: granted.polls,
            expiring: granted.expiring,
            left: granted.left as f64,
            ends_in: granted.ends_in,
            per_sec: limits.polls / DAY_SECS,
            bytes: granted.bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
            bytes_left: granted.bytes_left.map_or(f64::INFINITY, |bytes| bytes as f64),
            bytes_per_sec: limits.bytes.map_or(0.0, |bytes| bytes / DAY_SECS),
            period,
            cycle,
        }
    }

    /// Returns the times at which spending is compared: the end of this period, and one period from
    /// now.
    pub(super) fn until(&self, moment: usize) -> Duration {
        if moment == 0 { self.ends_in } else { self.period.max(self.ends_in) }
    }

    /// Returns the expected spending relative to the available amounts. A few polls of the next
    /// period count too.
    pub(super) fn relative_spending(
        &self,
        [until_end, in_all]: &[ExpectedSpending; MOMENTS],
    ) -> ExpectedSpending {
        let (ends_in, period) = (self.ends_in.as_secs_f64(), self.period.as_secs_f64());
        let few = FEW / (self.per_sec * period).max(FEW);
        let after = self.until(1).as_secs_f64() - ends_in;
        let relative = |until_end: f64, in_all: f64, left: f64, per_sec: f64| {
            let left = left.max(LEFT_MIN * per_sec * ends_in);
            let want = until_end + few * (in_all - until_end);
            if want > 0.0 { want / (left + few * per_sec * after) } else { 0.0 }
        };
        ExpectedSpending {
            polls: relative(until_end.polls, in_all.polls, self.left, self.per_sec),
            bytes: relative(until_end.bytes, in_all.bytes, self.bytes_left, self.bytes_per_sec),
        }
    }

    /// Returns the time between two price adjustments.
    pub(super) fn adjusted_every(&self) -> Duration {
        (self.period / ADJUSTED_PER_PERIOD).max(self.cycle * ADJUSTED_CYCLES)
    }
}
