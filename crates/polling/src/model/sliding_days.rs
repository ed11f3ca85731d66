//! The live history of an hourly histogram: entries per hour of the last fourteen days.
//!
//! Today's entries count from tomorrow on: the model changes once a day. A few days suit bursty
//! feeds better than months (dissertation 003, section 4.2). Fourteen also serve a weekly period,
//! and fit the kilobyte of a feed's state.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::{histogram::Period, sliding_days::SlidingDays};
//!
//! let mut days = SlidingDays::default();
//! let noons: Vec<Time> = (0..3).map(|d| Time::from_secs(d * 86_400 + 43_200)).collect();
//! days.learn(&Observation::first(Time::from_secs(3 * 86_400), &noons));
//! let model = days.histogram(Period::Day).unwrap();
//! assert_eq!((model.counts[12], model.days), (3, 3));
//! ```

use feed::{Observation, Time};

use super::HourlyRates;
use super::histogram::{Histogram, Period, day_of, hour_of};
use crate::bytes::ByteReader;

/// The number of past days that count.
pub const DAYS: i64 = 14;
/// The past days, and today.
const ROWS: usize = DAYS as usize + 1;
/// No entry was seen yet.
const NO_DAY: i64 = i64::MAX;

/// Entries per hour of the last days, in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlidingDays {
    rows: Box<[[u16; 24]; ROWS]>,
    today: i64,
    /// The day of the oldest entry ever seen.
    oldest: i64,
}

impl Default for SlidingDays {
    fn default() -> SlidingDays {
        SlidingDays { rows: Box::new([[0; 24]; ROWS]), today: i64::MIN, oldest: NO_DAY }
    }
}

impl SlidingDays {
    pub fn learn(&mut self, o: &Observation<'_>) {
        if !o.outcome.is_success() {
            return;
        }
        self.turn_to(day_of(o.at, 0));
        for time in o.new {
            self.add(*time);
        }
    }

    /// Moves to another day and clears the days in between. After a clock was set back the later
    /// days are cleared too: their rows held other days before.
    fn turn_to(&mut self, day: i64) {
        let (until, since) = (self.today.max(day), self.today.min(day));
        let passed = until.saturating_sub(since.max(until.saturating_sub(ROWS as i64)));
        for back in 0..passed {
            self.rows[row_of(until - back)] = [0; 24];
        }
        self.today = day;
    }

    /// Counts an entry. A time in the future counts as today: the claim is wrong, but the entry
    /// exists.
    fn add(&mut self, time: Time) {
        let day = day_of(time, 0).min(self.today);
        self.oldest = self.oldest.min(day);
        if self.today.saturating_sub(day) <= DAYS {
            let count = &mut self.rows[row_of(day)][hour_of(time, Period::Day, 0)];
            *count = count.saturating_add(1);
        }
    }

    /// Returns the entries of all days that are kept.
    pub(crate) fn n_entries(&self) -> f64 {
        self.rows.iter().flatten().map(|n| f64::from(*n)).sum()
    }

    /// Returns the model of the days before today; `None` without a whole day of history.
    pub fn histogram(&self, period: Period) -> Option<Histogram> {
        let first = self.oldest.max(self.today.saturating_sub(DAYS));
        let days = u64::try_from(self.today.checked_sub(first)?).ok().filter(|d| *d > 0)?;
        let mut counts = vec![0_u64; period.hours()];
        for day in first..self.today {
            // A week of the histogram begins on the epoch's weekday, like its hours.
            let offset = match period {
                Period::Day => 0,
                Period::Week => day.rem_euclid(7) as usize * 24,
            };
            for (hour, count) in self.rows[row_of(day)].iter().enumerate() {
                counts[offset + hour] += u64::from(*count);
            }
        }
        Some(Histogram { period, counts, days, zone_secs: 0 })
    }

    /// Returns the daily model in f64.
    pub(crate) fn rates(&self) -> Option<HourlyRates> {
        self.histogram(Period::Day).as_ref().map(HourlyRates::from)
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.today.to_le_bytes());
        bytes.extend(self.oldest.to_le_bytes());
        for count in self.rows.iter().flatten() {
            bytes.extend(count.to_le_bytes());
        }
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>) -> Option<SlidingDays> {
        let mut days =
            SlidingDays { today: reader.i64()?, oldest: reader.i64()?, ..SlidingDays::default() };
        for count in days.rows.iter_mut().flatten() {
            *count = reader.bytes().map(u16::from_le_bytes)?;
        }
        Some(days)
    }
}

fn row_of(day: i64) -> usize {
    day.rem_euclid(ROWS as i64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    fn seen(at: i64, new: &[Time]) -> Observation<'_> {
        Observation::first(Time::from_secs(at), new)
    }

    #[test]
    fn todays_entries_count_from_tomorrow_on_and_are_forgotten_after_two_weeks() {
        let mut days = SlidingDays::default();
        let noon = [Time::from_secs(100 * DAY + 12 * 3600)];
        days.learn(&seen(100 * DAY + 13 * 3600, &noon));
        assert_eq!(days.histogram(Period::Day), None);
        days.learn(&seen(101 * DAY, &[]));
        let model = days.histogram(Period::Day).unwrap();
        assert_eq!((model.counts[12], model.days), (1, 1));
        days.learn(&seen(114 * DAY, &[]));
        let model = days.histogram(Period::Day).unwrap();
        assert_eq!((model.counts[12], model.days), (1, 14));
        days.learn(&seen(115 * DAY, &[]));
        assert!(days.histogram(Period::Day).unwrap().is_zero());
    }

    #[test]
    fn a_weeks_hours_are_kept_apart() {
        let mut days = SlidingDays::default();
        // Day 7 is a Thursday like the epoch: hour 3 of the period; day 8 comes after it.
        let times = [Time::from_secs(7 * DAY + 3 * 3600), Time::from_secs(8 * DAY + 3 * 3600)];
        days.learn(&seen(14 * DAY, &times));
        let week = days.histogram(Period::Week).unwrap();
        assert_eq!((week.counts[3], week.counts[27], week.days), (1, 1, 7));
        assert_eq!(week.counts[hour_of(times[1], Period::Week, 0)], 1);
    }

    #[test]
    fn times_of_other_centuries_are_no_trouble() {
        let mut days = SlidingDays::default();
        let times = [Time::MIN, Time::from_secs(0), Time::MAX];
        days.learn(&seen(100 * DAY, &times));
        days.learn(&seen(102 * DAY, &[Time::from_millis(i64::MIN), Time::from_millis(i64::MAX)]));
        assert_eq!(days.histogram(Period::Day).unwrap().days, 14);
    }
}
