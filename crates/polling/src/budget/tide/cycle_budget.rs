//! What `tide` may spend: now, until its period ends, and in every second after it.
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
//! let mut looks = [0; 10];
//! for minute in 0..600 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         looks[minute as usize / 60] += 1;
//!         let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert_eq!(looks, [6; 10]);
//! ```

use std::time::Duration;

use crate::budget::allocation::DailyLimits;
use crate::budget::allowance::SpendingGrant;

use super::price::{ExpectedSpending, MOMENTS};

const DAY_SECS: f64 = 86_400.0;
/// How often in a period the price is settled, and for how many cycles at least.
const SETTLED_PER_PERIOD: u32 = 48;
const SETTLED_CYCLES: u32 = 5;
/// So many looks of the next period always count: what is left of a few polls says little.
const FEW: f64 = 8.0;
/// However little is left, the price is that of so much of an even share: the next period would
/// have to bring it down again.
const LEFT_MIN: f64 = 0.1;

/// What may be spent, and over which time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CycleBudget {
    pub(super) polls: usize,
    /// How many of them would be lost.
    pub(super) expiring: usize,
    pub(super) per_sec: f64,
    /// Infinite where they are not limited.
    pub(super) bytes: f64,
    /// The same until the period ends, and when that is.
    pub(super) left: f64,
    pub(super) bytes_left: f64,
    pub(super) ends_in: Duration,
    pub(super) bytes_per_sec: f64,
    /// The budget's.
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
            per_sec: limits.looks / DAY_SECS,
            bytes: granted.bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
            bytes_left: granted.bytes_left.map_or(f64::INFINITY, |bytes| bytes as f64),
            bytes_per_sec: limits.bytes.map_or(0.0, |bytes| bytes / DAY_SECS),
            period,
            cycle,
        }
    }

    /// The moments by which looks are counted: the end of this period, and a period from now.
    pub(super) fn until(&self, moment: usize) -> Duration {
        if moment == 0 { self.ends_in } else { self.period.max(self.ends_in) }
    }

    /// How much of what may be spent is wanted. A few looks of the next period count too.
    pub(super) fn beside(
        &self,
        [until_end, in_all]: &[ExpectedSpending; MOMENTS],
    ) -> ExpectedSpending {
        let (ends_in, period) = (self.ends_in.as_secs_f64(), self.period.as_secs_f64());
        let few = FEW / (self.per_sec * period).max(FEW);
        let after = self.until(1).as_secs_f64() - ends_in;
        let beside = |until_end: f64, in_all: f64, left: f64, per_sec: f64| {
            let left = left.max(LEFT_MIN * per_sec * ends_in);
            let want = until_end + few * (in_all - until_end);
            if want > 0.0 { want / (left + few * per_sec * after) } else { 0.0 }
        };
        ExpectedSpending {
            looks: beside(until_end.looks, in_all.looks, self.left, self.per_sec),
            bytes: beside(until_end.bytes, in_all.bytes, self.bytes_left, self.bytes_per_sec),
        }
    }

    /// How often the price is settled.
    pub(super) fn settled_every(&self) -> Duration {
        (self.period / SETTLED_PER_PERIOD).max(self.cycle * SETTLED_CYCLES)
    }
}
