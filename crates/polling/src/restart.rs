//! Spreads the polls that became due during a downtime, so that a restart does not send them at
//! once.
//!
//! ```
//! let wait = polling::restart::spread(1000, 0.5);
//! assert_eq!(wait, std::time::Duration::from_secs(10));
//! ```

use std::time::Duration;

/// One overdue feed every 20 ms: a small machine can parse that many.
const PER_FEED: Duration = Duration::from_millis(20);
/// The longest spread, for any number of feeds.
const SPREAD_MAX: Duration = Duration::from_secs(15 * 60);

/// Returns how long after a restart one of `n_overdue` feeds is polled; `unit` is a random number
/// in [0, 1).
pub fn spread(n_overdue: usize, unit: f64) -> Duration {
    let n = u32::try_from(n_overdue).unwrap_or(u32::MAX);
    let span = PER_FEED.saturating_mul(n).min(SPREAD_MAX);
    let unit = if unit.is_finite() { unit.clamp(0.0, 1.0) } else { 0.0 };
    span.mul_f64(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overdue_feeds_are_spread_over_their_number_and_at_most_a_quarter_of_an_hour() {
        assert_eq!(spread(0, 0.5), Duration::ZERO);
        assert_eq!(spread(100, 0.5), Duration::from_secs(1));
        assert_eq!(spread(usize::MAX, 1.0), SPREAD_MAX);
        assert_eq!(spread(10, f64::NAN), Duration::ZERO);
    }
}
