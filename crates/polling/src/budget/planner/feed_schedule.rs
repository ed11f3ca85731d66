//! The schedule of one feed under an allocating strategy: how often, and when in the day.
//!
//! A schedule has m polls a day, evenly spaced every 24 h/m, or at the points of theorem 3
//! ([`schedule`]); m < 1 means one poll every 1/m days. Points are computed when a feed is
//! observed, not for all feeds at once, so that no plan takes minutes. Until then the polls are
//! evenly spaced.
//!
//! [`schedule`]: crate::budget::schedule
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, homogeneous::Homogeneous};
//! use std::time::Duration;
//!
//! // Two polls an hour for one feed: every half hour, counted from the last.
//! let hour = Duration::from_secs(3600);
//! let mut planner = Planner::new(Strategy::MinDelayAllocation, hour);
//! let model = Model::Homogeneous(Homogeneous { rate: 0.01 });
//! planner.track(Tracked { last: Some(Time::from_secs(0)), ..Tracked::new(model) });
//! assert!(planner.plan(Time::from_secs(1799), 2).is_empty());
//! assert_eq!(planner.plan(Time::from_secs(1800), 2), [0]);
//! ```

use std::time::Duration;

use feed::Time;

use crate::budget::schedule::curve::Curve;
use crate::budget::schedule::near;
use crate::model::Model;

const DAY_SECS: f64 = 86_400.0;
const DAY_MS: i64 = 86_400_000;
/// The longest interval in days, even for a feed that gets fewer polls. The paper has no such
/// limit; reproductions go without it.
pub(crate) const DAYS_MAX: f64 = 28.0;
/// The most polls a day that get points of their own: one every quarter of an hour. A model of
/// hours knows no more within an hour, and points take memory.
pub(crate) const POINTS_MAX: u32 = 96;

/// The poll times of one feed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FeedSchedule {
    /// Polls per day; 0 is never.
    polls: f64,
    /// The number of points per day; 0 for even spacing.
    n_points: u16,
    /// The points belong to an earlier allocation.
    stale: bool,
    /// Milliseconds of the day; empty until they are computed.
    points: Box<[u32]>,
}

impl FeedSchedule {
    /// Returns a schedule of evenly spaced polls.
    pub(crate) fn even(polls: f64) -> FeedSchedule {
        FeedSchedule { polls: polls.max(0.0), ..FeedSchedule::default() }
    }

    pub(crate) fn polls(&self) -> f64 {
        self.polls
    }

    /// Sets a new allocation with `n_points` points of the day, 0 for even spacing.
    pub(crate) fn allot(&mut self, polls: f64, n_points: u32) {
        let n_points = if n_points > POINTS_MAX { 0 } else { n_points as u16 };
        if n_points != self.n_points {
            self.points = Box::default();
        }
        // `max` turns NaN into 0, which is never.
        (self.polls, self.n_points, self.stale) = (polls.max(0.0), n_points, true);
    }

    /// Returns whether points are missing or belong to an earlier allocation. A flat day needs
    /// none.
    pub(crate) fn lacks_points(&self, model: &Model) -> bool {
        self.n_points > 0 && (self.stale || self.points.is_empty()) && !model.is_flat()
    }

    /// Computes the points for the rates of the hours of a day.
    pub(crate) fn schedule(&mut self, day: &[f64; 24]) {
        self.stale = false;
        let curve = Curve::slots(day, DAY_SECS);
        let points = near(&curve, usize::from(self.n_points));
        self.points = points.iter().map(|p| (p * 1000.0) as u32).collect();
    }

    /// Returns the next poll after the one at `last`, which was due at `due`. A poll that was a
    /// little late because plans run in cycles does not delay the later ones. Otherwise a feed due
    /// every 75 seconds would be polled every second minute.
    ///
    /// `days_max` is the longest interval.
    pub(crate) fn next(
        &self,
        due: Time,
        last: Time,
        cycle: Duration,
        days_max: f64,
    ) -> Option<Time> {
        if self.polls <= 0.0 {
            return None;
        }
        let Some(&first) = self.points.first() else {
            let gap_ms = (DAY_MS as f64 / self.polls.max(1.0 / days_max)).max(1000.0) as i64;
            let late_ms = last.millis_since(due);
            let cycle_ms = i64::try_from(cycle.as_millis()).unwrap_or(i64::MAX);
            let late_max_ms = cycle_ms.max(gap_ms / 2).min(gap_ms);
            let from = if (0..late_max_ms).contains(&late_ms) { due } else { last };
            return Some(from.shifted(gap_ms));
        };
        let midnight = last.millis().div_euclid(DAY_MS).saturating_mul(DAY_MS);
        let at = |point: u32| midnight.saturating_add(point.into());
        let later = self.points.iter().map(|p| at(*p)).find(|t| *t > last.millis());
        let next = later.unwrap_or_else(|| at(first).saturating_add(DAY_MS));
        Some(Time::from_millis(next.saturating_add((self.every_days(days_max) - 1) * DAY_MS)))
    }

    /// Returns the days between two polls at the same point.
    fn every_days(&self, days_max: f64) -> i64 {
        if self.polls >= 1.0 { 1 } else { (1.0 / self.polls).round().clamp(1.0, days_max) as i64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::HourlyRates;

    const CYCLE: Duration = Duration::from_secs(60);

    /// A model with all entries between eight and nine.
    fn morning() -> Model {
        let hours = (0..24).map(|h| if h == 8 { 0.01 } else { 0.0 }).collect();
        Model::Frozen(HourlyRates { hours, zone_secs: 0 })
    }

    #[test]
    fn one_poll_a_day_comes_after_the_morning_and_rarer_ones_at_the_same_hour() {
        let nine = |day: i64| Time::from_secs(day * 86_400 + 9 * 3600);
        let mut rhythm = FeedSchedule::default();
        for (polls, days) in [(1.0, 1), (0.5, 2), (0.01, 28)] {
            rhythm.allot(polls, 1);
            rhythm.schedule(&morning().day());
            let next = rhythm.next(nine(5), nine(5), CYCLE, DAYS_MAX).unwrap();
            assert!(next.since(nine(5 + days)).as_secs() < 10, "{polls} {next}");
            assert!(nine(5 + days).since(next).as_secs() < 10, "{polls} {next}");
        }
        let rare = rhythm.next(nine(5), nine(5), CYCLE, f64::MAX).unwrap();
        assert!(rare.since(nine(105)).as_secs() < 10, "without a limit: {rare}");
        assert_eq!(FeedSchedule::even(0.0).next(nine(5), nine(5), CYCLE, DAYS_MAX), None);
        assert_eq!(FeedSchedule::even(f64::NAN).next(nine(5), nine(5), CYCLE, DAYS_MAX), None);
    }

    #[test]
    fn points_stay_while_their_number_does_and_are_found_again_after_an_allocation() {
        let mut rhythm = FeedSchedule::default();
        rhythm.allot(2.0, 2);
        assert!(rhythm.points.is_empty(), "found when the feed is observed");
        rhythm.schedule(&morning().day());
        let found = rhythm.points.clone();
        assert_eq!(found.len(), 2);
        rhythm.allot(2.2, 2);
        assert_eq!((&rhythm.points, rhythm.stale), (&found, true));
        rhythm.allot(3.0, 3);
        assert!(rhythm.points.is_empty());
        rhythm.allot(500.0, 500);
        rhythm.schedule(&morning().day());
        let at = Time::from_millis;
        let next = |last| rhythm.next(at(0), at(last), CYCLE, DAYS_MAX);
        assert_eq!(next(0), Some(at(172_800)));
        assert_eq!(next(60_000), Some(at(172_800)), "a little late");
        assert_eq!(next(90_000), Some(at(262_800)), "it must have been held");
    }

    #[test]
    fn a_gap_little_longer_than_the_cycle_is_kept_on_average() {
        let (gap_ms, end_ms) = (75_000, 3_600_000);
        let rhythm = FeedSchedule::even(DAY_MS as f64 / gap_ms as f64);
        let (mut due, mut n_polls) = (Time::from_millis(0), 0);
        for now in (0..=end_ms).step_by(60_000).map(Time::from_millis) {
            if due <= now {
                due = rhythm.next(due, now, CYCLE, DAYS_MAX).unwrap();
                n_polls += 1;
            }
        }
        assert_eq!(n_polls, 1 + end_ms / gap_ms);
    }
}
