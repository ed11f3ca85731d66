//! A time: milliseconds since 1970 in UTC. This module reads no clock.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A time in UTC, in milliseconds. Shown as RFC 3339 in whole seconds.
///
/// ```
/// let t: feed::Time = "2011-07-16T05:00:00Z".parse().unwrap();
/// assert_eq!(t, feed::Time::from_secs(1_310_792_400));
/// assert_eq!(t.to_string(), "2011-07-16T05:00:00Z");
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
)]
#[serde(transparent)]
pub struct Time(i64);

/// A text that is not an RFC 3339 time.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a time; write it as 2011-07-16T05:00:00Z")]
pub struct TimeError(String);

impl Time {
    /// The largest time that can be shown: the end of the year 9998. Later claims are nonsense, and
    /// the limit keeps every sum of a time and an interval representable.
    pub const MAX: Time = Time(253_370_764_799_000);
    /// The start of the year 1.
    pub const MIN: Time = Time(-62_135_596_800_000);

    pub const fn from_millis(ms: i64) -> Time {
        Time(ms)
    }

    pub const fn from_secs(s: i64) -> Time {
        Time(s.saturating_mul(1000))
    }

    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Returns whole seconds, rounded down.
    pub const fn secs(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Returns the same time without its fraction of a second.
    pub const fn floor_to_second(self) -> Time {
        Time(self.0 - self.0.rem_euclid(1000))
    }

    /// Returns the duration since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Duration {
        let ms = self.0.saturating_sub(earlier.0);
        Duration::from_millis(if ms < 0 { 0 } else { ms.unsigned_abs() })
    }

    /// Returns the milliseconds from `other` to `self`, negative if `self` is earlier.
    pub const fn millis_since(self, other: Time) -> i64 {
        self.0.saturating_sub(other.0)
    }

    /// Moves by a signed number of milliseconds.
    pub const fn shifted(self, ms: i64) -> Time {
        Time(self.0.saturating_add(ms))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, d: Duration) -> Time {
        Time(self.0.saturating_add(i64::try_from(d.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, d: Duration) -> Time {
        Time(self.0.saturating_sub(i64::try_from(d.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = (*self).clamp(Time::MIN, Time::MAX);
        match jiff::Timestamp::from_second(shown.secs()) {
            Ok(t) => t.fmt(f),
            Err(_) => f.write_str("9999-12-31T00:00:00Z"),
        }
    }
}

impl FromStr for Time {
    type Err = TimeError;
    fn from_str(s: &str) -> Result<Time, TimeError> {
        let t: jiff::Timestamp = s.trim().parse().map_err(|_| TimeError(s.to_owned()))?;
        Ok(Time(t.as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_saturate_instead_of_wrapping() {
        assert_eq!(Time::MAX + Duration::MAX, Time::from_millis(i64::MAX));
        assert_eq!(Time::from_secs(1).since(Time::from_secs(5)), Duration::ZERO);
    }

    #[test]
    fn every_moment_can_be_shown() {
        for ms in [i64::MIN, -1, 0, 1, i64::MAX] {
            assert!(Time::from_millis(ms).to_string().ends_with('Z'));
        }
    }
}
