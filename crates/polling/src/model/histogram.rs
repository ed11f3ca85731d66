//! The hourly histogram: one rate per hour of the day or of the week, in exact fractions
//! (dissertation 003, sections 2.5.4 and 4.2; `IndHist`).
//!
//! λ_h = entries in hour h / days of history. The divisor is the days from the oldest entry to the
//! end of training, rounded up, at least 1. The next poll is the earliest time at which the sum of
//! λ over the (partial) hours ahead reaches θ.
//!
//! Sums and edges use integers: one unit in the last place of an f64 at the edge of an hour would
//! move a poll by hours.
//!
//! ```
//! use feed::Time;
//! use polling::{Fraction, model::histogram::{Histogram, Period}};
//!
//! // Table 2.1: 1, 1 and 3 changes in 8 days for 11–12, 12–13 and 13–14 h.
//! let mut counts = [0; 24];
//! (counts[11], counts[12], counts[13]) = (1, 1, 3);
//! let day = Histogram { period: Period::Day, counts: counts.to_vec(), days: 8, zone_secs: 0 };
//! let (half_past_11, two) = (Time::from_secs(41_400), Time::from_secs(50_400));
//! assert_eq!(day.expect(half_past_11, two), Fraction::new(9, 16));
//! let next = day.reach(half_past_11, "0.5625".parse().unwrap());
//! assert_eq!(next, Some(Fraction::whole(50_400_000)));
//! ```

use feed::Time;

use crate::{Decimal, Fraction};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 86_400_000;
/// The longest history; it keeps exact products within 128 bits.
const DAYS_MAX: i64 = 1_000_000;

/// The period of the rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    Day,
    Week,
}

impl Period {
    pub const fn hours(self) -> usize {
        match self {
            Period::Day => 24,
            Period::Week => 168,
        }
    }
}

/// Entries per hour of the period, over a number of days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    pub period: Period,
    /// One count per hour. A week begins on Thursday, like the epoch.
    pub counts: Vec<u64>,
    pub days: u64,
    /// The time zone of the hours, in seconds east of UTC.
    pub zone_secs: i32,
}

impl Histogram {
    /// Learns from all of `history` before `end`, oldest first.
    pub fn train(history: &[Time], end: Time, period: Period, zone_secs: i32) -> Histogram {
        let mut counts = vec![0_u64; period.hours()];
        let known = &history[..history.partition_point(|t| *t < end)];
        for time in known {
            let count = &mut counts[hour_of(*time, period, zone_secs)];
            *count = count.saturating_add(1);
        }
        let span_ms = known.first().map_or(0, |oldest| end.millis_since(*oldest));
        let days = span_ms.div_euclid(DAY_MS) + i64::from(span_ms.rem_euclid(DAY_MS) > 0);
        let days = days.clamp(1, DAYS_MAX).unsigned_abs();
        Histogram { period, counts, days, zone_secs }
    }

    pub fn is_zero(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }

    /// Returns the divisor that turns a sum of counts × milliseconds into entries.
    fn divisor(&self) -> i128 {
        i128::from(self.days) * i128::from(HOUR_MS)
    }

    /// Returns the days of a period: 1 or 7.
    fn days_per_period(&self) -> i128 {
        (self.period.hours() / 24) as i128
    }

    /// Returns the slots of one whole period from `start` on, as milliseconds and count. The first
    /// slot comes twice: its end first, its beginning last.
    fn stretches(&self, start: Time) -> impl Iterator<Item = (i64, i128)> {
        let (first, n) = (hour_of(start, self.period, self.zone_secs), self.counts.len());
        let into = local_ms(start, self.zone_secs).rem_euclid(HOUR_MS);
        (0..=n).map(move |i| {
            let length = match i {
                0 => HOUR_MS - into,
                _ if i == n => into,
                _ => HOUR_MS,
            };
            (length, i128::from(self.counts[(first + i) % n]) * self.days_per_period())
        })
    }

    /// Returns the exact number of entries expected in (a, b].
    pub fn expect(&self, a: Time, b: Time) -> Fraction {
        let period_ms = self.period.hours() as i64 * HOUR_MS;
        let span = b.millis_since(a).max(0);
        let (periods, mut rest) = (span / period_ms, span % period_ms);
        let mut sum = i128::from(periods) * self.sum_of_period();
        for (length, count) in self.stretches(a) {
            let covered = length.min(rest);
            sum += count * i128::from(covered);
            rest -= covered;
        }
        Fraction::new(sum, self.divisor())
    }

    fn sum_of_period(&self) -> i128 {
        let total: i128 = self.counts.iter().map(|count| i128::from(*count)).sum();
        total * self.days_per_period() * i128::from(HOUR_MS)
    }

    /// Returns the earliest time, in milliseconds since 1970, at which `theta` entries are expected
    /// since `a`; `None` for an all-zero model.
    pub fn reach(&self, a: Time, theta: Decimal) -> Option<Fraction> {
        let per_period = self.sum_of_period();
        if per_period == 0 || theta.is_zero() {
            return None;
        }
        // In units of 1/theta_den count-milliseconds all values are whole.
        let (theta_num, theta_den) = theta.fraction().parts();
        let wanted = theta_num * self.divisor();
        let whole = per_period * theta_den;
        // Walk through the last period: the sum may be complete before its end.
        let periods = (wanted + whole - 1) / whole - 1;
        let mut rest = wanted - periods * whole;
        let period_ms = self.period.hours() as i128 * i128::from(HOUR_MS);
        let mut passed = i128::from(a.millis()) + periods * period_ms;
        for (length, count) in self.stretches(a) {
            let here = count * i128::from(length) * theta_den;
            if here >= rest && here > 0 {
                return Some(Fraction::new(rest, count * theta_den).plus(passed));
            }
            rest -= here;
            passed += i128::from(length);
        }
        None
    }

    /// Returns the rates in entries per second, for models in f64.
    pub fn rates(&self) -> Vec<f64> {
        let scale = self.days_per_period() as f64 / (self.days as f64 * 3600.0);
        self.counts.iter().map(|count| *count as f64 * scale).collect()
    }
}

fn local_ms(time: Time, zone_secs: i32) -> i64 {
    time.millis().saturating_add(i64::from(zone_secs) * 1000)
}

/// Returns the hour of the period of a time.
pub(crate) fn hour_of(time: Time, period: Period, zone_secs: i32) -> usize {
    let hours = local_ms(time, zone_secs).div_euclid(HOUR_MS);
    hours.rem_euclid(period.hours() as i64) as usize
}

/// Returns the day of a time, counted from the epoch.
pub(crate) fn day_of(time: Time, zone_secs: i32) -> i64 {
    local_ms(time, zone_secs).div_euclid(DAY_MS)
}
