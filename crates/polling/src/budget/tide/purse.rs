//! What `tide` may spend: now, and in every second to come.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, Rates};
//! use std::time::Duration;
//!
//! // What is earned in ten hours, and not a poll more than that and half an hour's saving.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(Rates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.01));
//! planner.track(feed(0.01));
//! planner.set_budget(Some("6/1h".parse().unwrap()));
//! let mut looks = [0, 0];
//! for minute in 1..=600 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         looks[number] += 1;
//!         let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert!((57..=63).contains(&(looks[0] + looks[1])), "{looks:?}");
//! ```

use std::time::Duration;

use crate::budget::allowance::Granted;
use crate::budget::looks::Limits;

use super::price::{MOMENTS, Wanted};

const DAY_SECS: f64 = 86_400.0;

/// What may be spent, and over which time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purse {
    pub(super) polls: usize,
    /// How many of them would be lost.
    pub(super) expiring: usize,
    pub(super) per_sec: f64,
    /// The same for bytes; infinite where they are not limited.
    pub(super) bytes: f64,
    pub(super) bytes_per_sec: f64,
    /// The budget's.
    pub(super) period: Duration,
    /// The time between two plans.
    pub(super) cycle: Duration,
}

impl Purse {
    pub(crate) fn new(
        granted: Granted,
        limits: Limits,
        period: Duration,
        cycle: Duration,
    ) -> Purse {
        Purse {
            polls: granted.polls,
            expiring: granted.expiring,
            per_sec: limits.looks / DAY_SECS,
            bytes: granted.bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
            bytes_per_sec: limits.bytes.map_or(0.0, |bytes| bytes / DAY_SECS),
            period,
            cycle,
        }
    }

    /// How much of what may be spent by each moment of the period is wanted by then: the most, from
    /// the moment numbered `first` on.
    pub(super) fn worst(&self, wanted: &[Wanted; MOMENTS], first: usize) -> Wanted {
        let mut worst = Wanted::default();
        for (i, by_then) in wanted.iter().enumerate().skip(first) {
            let secs = self.until(i).as_secs_f64();
            let looks = by_then.looks / (self.polls as f64 + self.per_sec * secs);
            let bytes = by_then.bytes / (self.bytes + self.bytes_per_sec * secs);
            worst = Wanted { looks: worst.looks.max(looks), bytes: worst.bytes.max(bytes) };
        }
        worst
    }

    /// How far ahead a moment of the period is.
    pub(super) fn until(&self, moment: usize) -> Duration {
        self.period.max(self.cycle) * (moment as u32 + 1) / MOMENTS as u32
    }
}
