//! Hourly rates in f64, as hourly models use them between two trainings: λ_h = entries in hour h /
//! (days · 3600 s).
//!
//! ```
//! use polling::model::{HourlyRates, histogram::{Histogram, Period}};
//!
//! let counts = vec![36; 24];
//! let day = Histogram { period: Period::Day, counts, days: 10, zone_secs: 7200 };
//! let rates = HourlyRates::from(&day);
//! assert_eq!((rates.hours[0], rates.zone_secs), (0.001, 7200));
//! ```

use feed::Time;

use super::slots::Slots;
use crate::model::histogram::Histogram;

pub(in crate::model) const HOUR_MS: i64 = 3_600_000;

/// Hourly rates that do not change.
#[derive(Clone, Debug, PartialEq)]
pub struct HourlyRates {
    /// Entries per second, one per hour of the period.
    pub hours: Vec<f64>,
    /// The time zone of the hours, in seconds east of UTC.
    pub zone_secs: i32,
}

impl From<&Histogram> for HourlyRates {
    fn from(histogram: &Histogram) -> HourlyRates {
        HourlyRates { hours: histogram.rates(), zone_secs: histogram.zone_secs }
    }
}

impl HourlyRates {
    pub(in crate::model) fn slots(&self) -> Slots<'_> {
        Slots { rates: &self.hours, slot_ms: HOUR_MS }
    }

    pub(in crate::model) fn local(&self, time: Time) -> Time {
        time.shifted(i64::from(self.zone_secs) * 1000)
    }
}
