//! The wait before a failing feed is polled again: longer each time, at most a day.

use std::time::Duration;

/// The longest wait. Servers come back after years, so a feed is never given up.
pub const WAIT_MAX: Duration = Duration::from_secs(86_400);
/// The shortest wait: a server that restarts needs a minute.
const WAIT_MIN: Duration = Duration::from_secs(60);
/// The share of the wait that jitter may add, so that the feeds of one dead server spread out.
const JITTER_SHARE: f64 = 0.1;

/// Returns the wait after `failures` failures in a row (1 for the first). `wished` is the interval
/// of the policy, `jitter` a random number in [0, 1).
///
/// ```
/// use std::time::Duration;
/// let minute = Duration::from_secs(60);
/// assert_eq!(polling::backoff::after(3, minute, 0.0), 4 * minute);
/// assert_eq!(polling::backoff::after(1, 30 * minute, 0.0), 30 * minute);
/// ```
pub fn after(failures: u32, wished: Duration, jitter: f64) -> Duration {
    let first = wished.clamp(WAIT_MIN, WAIT_MAX);
    // A minute doubled 11 times exceeds a day; more would only overflow.
    let doublings = failures.saturating_sub(1).min(11);
    let wait = (first * (1 << doublings)).min(WAIT_MAX);
    let jitter = if jitter.is_finite() { jitter.clamp(0.0, 1.0) } else { 0.0 };
    (wait + wait.mul_f64(JITTER_SHARE * jitter)).min(WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_day_and_never_end() {
        let wait = |n| after(n, Duration::ZERO, 0.0).as_secs();
        assert_eq!([wait(0), wait(1), wait(2), wait(11)], [60, 60, 120, 61_440]);
        assert_eq!([wait(12), wait(u32::MAX)], [86_400, 86_400]);
    }

    #[test]
    fn a_failing_feed_is_never_asked_sooner_than_wished_up_to_the_cap() {
        for jitter in [0.0, 0.5, 0.999, f64::NAN, -3.0] {
            for wished in [1, 59, 3600, 86_399, 700_000] {
                let wished = Duration::from_secs(wished);
                let wait = after(1, wished, jitter);
                assert!(wait >= wished.min(WAIT_MAX) && wait <= WAIT_MAX);
            }
        }
    }

    #[test]
    fn chance_parts_the_feeds_of_one_server() {
        let hour = Duration::from_secs(3600);
        assert!(after(2, hour, 0.9) > after(2, hour, 0.1));
    }
}
