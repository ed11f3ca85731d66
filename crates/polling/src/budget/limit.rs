//! The budget: polls per time and, optionally, bytes in the same time. Written as `1000/1h`, or
//! `1000/1h,50MB`.
//!
//! [`Allowance`] keeps what was spent.
//!
//! [`Allowance`]: super::allowance::Allowance
//!
//! ```
//! use polling::budget::Budget;
//!
//! let budget: Budget = "7/1h,50MB".parse().unwrap();
//! assert_eq!((budget.polls_per_day(), budget.bytes), (168.0, Some(50_000_000)));
//! assert_eq!(budget.to_string(), "7/1h,50MB");
//! let error = "7 per hour".parse::<Budget>().unwrap_err().to_string();
//! assert!(error.contains("write it as 1000/1h"));
//! ```

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::{parse_duration, written};

const DAY_SECS: f64 = 86_400.0;
/// The largest number of polls in one period; a larger number is a typing error.
const POLLS_MAX: u32 = 1_000_000_000;
/// Decimal units, as providers sell them.
const UNITS: [(&str, u64); 4] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)];

/// Polls per time, and optionally bytes in the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    pub polls: u32,
    pub per: Duration,
    pub bytes: Option<u64>,
}

/// A text that is not a budget.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a budget; write it as 1000/1h, or with bytes in the same time as 1000/1h,50MB"
)]
pub struct BudgetError(String);

impl Budget {
    /// Returns the same budget for the smallest multiple of its period that is at least `least`.
    pub(super) fn over(&self, least: Duration) -> Budget {
        let times = least.as_nanos().div_ceil(self.per.as_nanos().max(1)).max(1);
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        Budget {
            polls: self.polls.saturating_mul(times),
            per: self.per.saturating_mul(times),
            bytes: self.bytes.map(|bytes| bytes.saturating_mul(u64::from(times))),
        }
    }

    pub fn polls_per_day(&self) -> f64 {
        f64::from(self.polls) * DAY_SECS / self.per.as_secs_f64().max(1.0)
    }

    pub fn bytes_per_day(&self) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 * DAY_SECS / self.per.as_secs_f64().max(1.0))
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.polls, written(self.per))?;
        let Some(bytes) = self.bytes else { return Ok(()) };
        // The last unit divides every number.
        let fitting = UNITS.into_iter().find(|(_, size)| bytes > 0 && bytes % size == 0);
        let (unit, size) = fitting.unwrap_or(("B", 1));
        write!(f, ",{}{unit}", bytes / size)
    }
}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Budget, BudgetError> {
        let refuse = || BudgetError(text.chars().take(40).collect());
        let (rate, bytes) = match text.trim().split_once(',') {
            Some((rate, bytes)) => (rate, Some(parse_bytes(bytes.trim()).ok_or_else(refuse)?)),
            None => (text.trim(), None),
        };
        let (polls, per) = rate.split_once('/').ok_or_else(refuse)?;
        let polls = digits(polls).and_then(|n| u32::try_from(n).ok());
        let polls = polls.filter(|n| *n <= POLLS_MAX).ok_or_else(refuse)?;
        let per = parse_duration(per).map_err(|_| refuse())?;
        if per.is_zero() {
            return Err(refuse());
        }
        Ok(Budget { polls, per, bytes })
    }
}

fn parse_bytes(text: &str) -> Option<u64> {
    let (number, size) =
        UNITS.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)))?;
    digits(number)?.checked_mul(size)
}

/// A plain whole number, without a sign or a space.
fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_and_shown() {
        for text in ["1000/1h", "7/10m", "0/1d", "1/1s,1B", "5/90s,1500kB", "5/1h,0B", "9/7d,3GB"] {
            assert_eq!(text.parse::<Budget>().unwrap().to_string(), text);
        }
        assert_eq!("1000/60m, 2000kB".parse::<Budget>().unwrap().to_string(), "1000/1h,2MB");
    }

    #[test]
    fn what_is_no_budget_is_refused_and_named() {
        for text in
            ["", "/", "10", "10/", "/1h", "10/1", "10/0s", "-1/1h", "+1/1h", "1.5/1h", "5/1h,", "ü"]
        {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
        for text in ["5/1h,5", "5/1h,MB", "5/1h,1TB", "99999999999/1h", "1/1h,99999999999999GB"] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
        let long = "9".repeat(500).parse::<Budget>().unwrap_err().to_string();
        assert!(long.len() < 200, "{long}");
    }
}
