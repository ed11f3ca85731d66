//! Describes how one feed posts, in the terms of the papers: activity class, variation between
//! days, shape of the day and update pattern, each with a sentence.
//!
//! Input: publication times and the time of the last poll. Output: a [`Behaviour`]. It predicts
//! nothing and decides nothing. Classes, coefficient of variation and shapes are those of Horincar,
//! Amann and Artières 2012, section 5 (source 000); patterns are those of dissertation 003, section
//! 3.7.5. Days are days in UTC.
//!
//! ```
//! use feed::Time;
//! use polling::model::behaviour::{ActivityLevel, Behaviour};
//!
//! let hourly: Vec<Time> = (0..28 * 24).map(|h| Time::from_secs(h * 3600)).collect();
//! let behaviour = Behaviour::of(&hourly, Time::from_secs(28 * 86_400));
//! assert_eq!(behaviour.activity, ActivityLevel::Medium);
//! assert_eq!(behaviour.is_periodic(), Some(true));
//! ```

use feed::Time;

pub use super::behaviour_words::BehaviourFact;
use super::pattern::{UpdatePattern, pattern_of};
use super::shape::{ActivityShape, Periodicity, periodicity, shape_of};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 86_400_000;
/// The papers observed four weeks.
const PERIOD_DAYS: i64 = 28;
/// A feed with few entries in four weeks is judged by a year.
const LONG_PERIOD_DAYS: i64 = 364;
/// With fewer entries in four weeks a day's shape is chance.
const ENTRIES_MIN: usize = 24;
/// Fewer whole days say nothing about how days differ.
const DAYS_MIN: usize = 7;
/// The paper calls the coefficient unsuitable for slow feeds and tests feeds above this rate.
const PERIODIC_PER_DAY_MIN: f64 = 10.0;

/// How much a feed posts. The paper names the limits 10 a day, one an hour and 48 a day; the limit
/// of one a day is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActivityLevel {
    /// Less than one entry a day.
    VeryLow,
    /// Up to 10 a day.
    Low,
    /// Up to one an hour.
    Medium,
    /// Up to 48 a day.
    High,
    VeryHigh,
}

/// How a feed posts.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    pub activity: ActivityLevel,
    pub per_day: f64,
    /// The days that activity, variation and shape were calculated from.
    pub days: f64,
    /// The coefficients of variation; `None` with fewer than seven whole days or no entry.
    pub variation: Option<Periodicity>,
    /// The shape of the day; `None` with too few entries.
    pub shape: Option<ActivityShape>,
    pub pattern: UpdatePattern,
}

impl ActivityLevel {
    pub fn of(per_day: f64) -> ActivityLevel {
        match per_day {
            x if x > 48.0 => ActivityLevel::VeryHigh,
            x if x > 24.0 => ActivityLevel::High,
            x if x > 10.0 => ActivityLevel::Medium,
            x if x >= 1.0 => ActivityLevel::Low,
            _ => ActivityLevel::VeryLow,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            ActivityLevel::VeryLow => "very low",
            ActivityLevel::Low => "low",
            ActivityLevel::Medium => "medium",
            ActivityLevel::High => "high",
            ActivityLevel::VeryHigh => "very high",
        }
    }
}

impl Behaviour {
    /// Describes a feed by its publication `times`, oldest first, as known at the last poll. They
    /// are all that the feed published since the first of them.
    pub fn of(times: &[Time], polled_at: Time) -> Behaviour {
        let since = |days: i64| {
            let start = polled_at.millis().saturating_sub(days * DAY_MS);
            &times[times.partition_point(|time| time.millis() < start)..]
        };
        let recent = since(PERIOD_DAYS);
        let (observed, period) = match recent.len() {
            ENTRIES_MIN.. => (recent, PERIOD_DAYS),
            _ => (since(LONG_PERIOD_DAYS), LONG_PERIOD_DAYS),
        };
        // A younger feed has been observed since its first entry.
        let first = times.first().map_or(0, |first| polled_at.millis_since(*first));
        let days = (first as f64 / DAY_MS as f64).clamp(1.0, period as f64);
        let per_day = observed.len() as f64 / days;
        let mut hours = [0.0; 24];
        observed.iter().for_each(|time| hours[hour_of(*time)] += 1.0);
        Behaviour {
            activity: ActivityLevel::of(per_day),
            per_day,
            days,
            variation: variation(observed, polled_at),
            shape: shape_of(&hours).filter(|_| observed.len() >= ENTRIES_MIN),
            pattern: pattern_of(times, polled_at),
        }
    }

    /// Whether each day resembles the others (CV ≤ 1); `None` for a feed that posts too little for
    /// this test.
    pub fn is_periodic(&self) -> Option<bool> {
        let variation = self.variation.filter(|_| self.per_day > PERIODIC_PER_DAY_MIN)?;
        Some(variation.is_periodic())
    }
}

/// Returns the variation between the whole days from the first of `times` to the last poll.
fn variation(times: &[Time], polled_at: Time) -> Option<Periodicity> {
    let day_of = |time: Time| time.millis().div_euclid(DAY_MS);
    // The first and the last day are incomplete.
    let first = day_of(*times.first()?) + 1;
    let n_days = usize::try_from(day_of(polled_at) - first).ok().filter(|n| *n >= DAYS_MIN)?;
    let mut days = vec![[0; 24]; n_days.min(LONG_PERIOD_DAYS as usize)];
    for time in times {
        let day = usize::try_from(day_of(*time) - first).ok();
        if let Some(day) = day.and_then(|day| days.get_mut(day)) {
            day[hour_of(*time)] += 1;
        }
    }
    periodicity(&days)
}

fn hour_of(time: Time) -> usize {
    time.millis().div_euclid(HOUR_MS).rem_euclid(24) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(list: impl IntoIterator<Item = i64>) -> Vec<Time> {
        list.into_iter().map(|hour| Time::from_secs(hour * 3600 + 60)).collect()
    }

    fn at(day: i64) -> Time {
        Time::from_secs(day * 86_400)
    }

    #[test]
    fn an_editor_who_works_by_day_makes_waves_that_repeat() {
        let working = (0..60).flat_map(|day| (8..20).map(move |hour| day * 24 + hour));
        let behaviour = Behaviour::of(&hours(working), at(60));
        assert_eq!((behaviour.per_day, behaviour.days), (12.0, 28.0));
        assert_eq!(behaviour.activity, ActivityLevel::Medium);
        assert_eq!(behaviour.shape, Some(ActivityShape::Waves));
        assert_eq!(behaviour.is_periodic(), Some(true));
        assert_eq!(behaviour.pattern, UpdatePattern::Sliced);
        assert_eq!(behaviour.variation.unwrap().cv, 0.0);
    }

    #[test]
    fn a_robot_makes_peaks_and_days_that_differ_are_not_periodic() {
        let batch = (0..40_i64).flat_map(|day| {
            let n = if day % 4 == 0 { 60 } else { 0 };
            std::iter::repeat_n(day * 24 + 3, n)
        });
        let behaviour = Behaviour::of(&hours(batch), at(40));
        assert_eq!(behaviour.shape, Some(ActivityShape::Peaks));
        assert_eq!(behaviour.activity, ActivityLevel::Medium);
        // Six of 27 whole days have a batch, in one active hour. The printed formula divides by 24.
        let variation = behaviour.variation.unwrap();
        assert!((variation.cv_active - 3.5_f64.sqrt()).abs() < 1e-9, "{variation:?}");
        assert!((variation.cv * 24.0 - variation.cv_active).abs() < 1e-9);
    }

    #[test]
    fn a_slow_feed_is_judged_by_a_year_and_not_called_periodic() {
        let weekly = hours((0..80).map(|week| week * 7 * 24));
        let behaviour = Behaviour::of(&weekly, at(7 * 80));
        assert_eq!((behaviour.activity, behaviour.days), (ActivityLevel::VeryLow, 364.0));
        assert_eq!(behaviour.is_periodic(), None);
        assert!(behaviour.shape.is_some() && behaviour.variation.is_some());
        assert_eq!(behaviour.pattern, UpdatePattern::Spontaneous);
    }

    #[test]
    fn little_is_said_about_a_feed_of_which_little_is_known() {
        let empty = Behaviour::of(&[], at(3));
        assert_eq!((empty.activity, empty.pattern), (ActivityLevel::VeryLow, UpdatePattern::Empty));
        assert_eq!((empty.shape, empty.variation, empty.is_periodic()), (None, None, None));
        let young = Behaviour::of(&hours(0..48), at(2));
        assert!((young.per_day - 24.0).abs() < 0.1, "{young:?}");
        assert_eq!(young.variation, None);
        let dead = Behaviour::of(&hours(0..48), at(300));
        assert_eq!(dead.pattern, UpdatePattern::Zombie);
        let future = Behaviour::of(&hours(0..48), Time::from_secs(-86_400));
        assert_eq!(future.activity, ActivityLevel::High, "dates after the poll do not divide by 0");
    }

    #[test]
    fn classes_begin_at_the_limits_of_the_paper() {
        let words = [0.9, 1.0, 10.0, 10.1, 24.0, 24.1, 48.0, 48.1].map(ActivityLevel::of);
        let [a, b, c, d, e, f, g, h] = words.map(ActivityLevel::word);
        assert_eq!([a, b, c, d], ["very low", "low", "low", "medium"]);
        assert_eq!([e, f, g, h], ["medium", "high", "high", "very high"]);
    }
}
