//! Learns the weekly rhythm: the activity of each hour of the day and each weekday relative to the
//! mean.
//!
//! A factor is the entries seen over the entries expected at an even rate, with the weight of a
//! prior ([`super::day_shapes`]). Both counts decay together. Hours are those of UTC, or of the
//! feed's local clock.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! // Ten weeks of posts on Mondays only: the epoch began with a Thursday.
//! let times: Vec<Time> = (0..10).map(|w| Time::from_secs((w * 7 + 4) * 86_400)).collect();
//! let at = Time::from_secs(70 * 86_400);
//! let mut model = ModelKind::Tide.start();
//! model.learn(&Observation::first(at, &times));
//! let day = |d: i64| model.expect(at.shifted(d * 86_400_000), at.shifted((d + 1) * 86_400_000));
//! assert!(day(4) > 2.0 * day(2));
//! ```

use feed::Time;

use super::day_shapes;
use super::{DISTINCT_SECS, HOUR_SECS};
use crate::tuning::{Constant, tuned};

const HOUR_MS: i64 = 3_600_000;
/// The decay of the rhythm: three months.
const MEMORY_SECS: f64 = 90.0 * 86_400.0;
/// The weight of the prior, in entries over the whole day and over the whole week.
const HOURS_PRIOR: f64 = 10.0;
const DAYS_PRIOR: f64 = 80.0;
/// The share of an hour's entries that counts for each of its neighbours.
const BLUR: f64 = 0.25;

/// Entries seen and expected in each hour and on each weekday, and the factors computed from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WeeklyRhythm {
    pub(super) hours: [ActivityCount; 24],
    /// From Thursday on, like the epoch.
    pub(super) days: [ActivityCount; 7],
    pub(super) factors: Factors,
    /// For experiments only.
    #[cfg(feature = "tuning")]
    pub(super) fine: super::fine_day::FineDay,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ActivityCount {
    pub(super) seen: f64,
    pub(super) expected: f64,
}

/// The activity of hours and weekdays; the mean is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Factors {
    pub(super) hours: [f64; 24],
    pub(super) days: [f64; 7],
}

impl Default for Factors {
    fn default() -> Factors {
        Factors { hours: [1.0; 24], days: [1.0; 7] }
    }
}

impl Factors {
    /// Spreads a mean rate over the hours of a week.
    pub(super) fn spread(&self, rate: f64, week: &mut [f64]) {
        for (slots, day) in week.chunks_exact_mut(24).zip(&self.days) {
            slots.iter_mut().zip(&self.hours).for_each(|(slot, hour)| *slot = rate * (hour * day));
        }
    }
}

fn memory_secs() -> f64 {
    tuned(Constant::HabitsMemory, MEMORY_SECS)
}

/// Returns the hour of the day, the weekday, and the seconds left of the hour.
fn hour_and_day(at: Time) -> (usize, usize, f64) {
    let hour = at.millis().div_euclid(HOUR_MS);
    let into = at.millis().rem_euclid(HOUR_MS) as f64 / 1000.0;
    let day = hour.div_euclid(24).rem_euclid(7) as usize;
    (hour.rem_euclid(24) as usize, day, HOUR_SECS - into)
}

/// Calls `each` with hour, weekday and seconds of every hour in (from, to]. Returns the seconds
/// before the last four weeks, which are not distinguished.
fn hours_of(from: Time, to: Time, mut each: impl FnMut(usize, usize, f64)) -> f64 {
    let mut left = to.since(from).as_secs_f64();
    let long_ago = (left - DISTINCT_SECS).max(0.0);
    left -= long_ago;
    let (mut hour, mut day, mut secs) = hour_and_day(to.shifted(-((left * 1000.0) as i64)));
    while left > 0.0 {
        each(hour, day, secs.min(left));
        left -= secs;
        secs = HOUR_SECS;
        hour += 1;
        if hour == 24 {
            (hour, day) = (0, (day + 1) % 7);
        }
    }
    long_ago
}

impl WeeklyRhythm {
    /// Returns the seconds of mean activity in (from, to].
    pub(super) fn activity(&self, from: Time, to: Time) -> f64 {
        let mut sum = 0.0;
        let Factors { hours, days } = &self.factors;
        let long_ago = hours_of(from, to, |hour, day, secs| sum += hours[hour] * days[day] * secs);
        sum + long_ago
    }

    /// Counts (from, to] as watched at `rate` entries per second.
    pub(super) fn watch(&mut self, from: Time, to: Time, rate: f64) {
        self.decay(to.since(from).as_secs_f64());
        let Factors { hours, days } = self.factors;
        let long_ago = hours_of(from, to, |hour, day, secs| {
            self.hours[hour].expected += rate * secs * days[day];
            self.days[day].expected += rate * secs * hours[hour];
        });
        if long_ago > 0.0 {
            // Part of the time before the last four weeks has decayed already.
            let kept = rate * long_ago.min(memory_secs());
            self.hours.iter_mut().for_each(|share| share.expected += kept / 24.0);
            self.days.iter_mut().for_each(|share| share.expected += kept / 7.0);
        }
    }

    pub(super) fn count_entry(&mut self, at: Time) {
        let (hour, day, _) = hour_and_day(at);
        self.hours[hour].seen += 1.0;
        self.days[day].seen += 1.0;
        #[cfg(feature = "tuning")]
        self.fine.count_entry(at);
    }

    /// Counts a fraction of an entry in an hour of the week.
    pub(super) fn count_part(&mut self, hour: usize, entries: f64) {
        self.hours[hour % 24].seen += entries;
        self.days[hour / 24 % 7].seen += entries;
    }

    /// Returns the part of the counts that remains after `secs`.
    pub(super) fn retention(secs: f64) -> f64 {
        (-secs.max(0.0) / memory_secs()).exp()
    }

    /// Returns the number of entries that the hours are worth, with the weight of their prior.
    pub(super) fn n_hours(&self) -> f64 {
        HOURS_PRIOR + self.hours.iter().map(|hour| hour.seen).sum::<f64>()
    }

    /// Decays the counts over `secs`.
    pub(super) fn decay(&mut self, secs: f64) {
        let kept = WeeklyRhythm::retention(secs);
        for share in self.hours.iter_mut().chain(&mut self.days) {
            share.seen *= kept;
            share.expected *= kept;
        }
        #[cfg(feature = "tuning")]
        self.fine.decay(kept);
    }

    /// Recomputes the factors from the counts.
    pub(super) fn recompute(&mut self) {
        let prior = day_shapes::hours(&self.hours);
        #[cfg(feature = "tuning")]
        let prior =
            super::cluster_prior::cluster_prior(&self.hours.map(|hour| hour.seen)).unwrap_or(prior);
        let blur = tuned(Constant::HoursBlur, BLUR);
        let blurred = |of: fn(&ActivityCount) -> f64, h: usize| {
            let at = |h: usize| of(&self.hours[h % 24]);
            (1.0 - 2.0 * blur) * at(h) + blur * (at(h + 1) + at(h + 23))
        };
        let weight = tuned(Constant::HoursPrior, HOURS_PRIOR) / 24.0;
        let hours = std::array::from_fn(|h| {
            (blurred(|s| s.seen, h) + weight * prior[h]) / (blurred(|s| s.expected, h) + weight)
        });
        let prior = day_shapes::days(&self.days);
        let weight = tuned(Constant::DaysPrior, DAYS_PRIOR) / 7.0;
        let days = std::array::from_fn(|d| {
            (self.days[d].seen + weight * prior[d]) / (self.days[d].expected + weight)
        });
        self.factors = Factors { hours: with_mean_one(hours), days: with_mean_one(days) };
    }
}

/// Scales factors to a mean of 1.
fn with_mean_one<const N: usize>(factors: [f64; N]) -> [f64; N] {
    let mean = factors.iter().sum::<f64>() / N as f64;
    if mean > 0.0 { factors.map(|f| f / mean) } else { [1.0; N] }
}
