//! The rate limit of the API: a token bucket for each account. Time is an argument.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use feed::Time;
use store::AccountId;

/// Requests at once: enough for a client that starts and fetches everything.
pub const BURST: u32 = 1200;
/// Requests a second in the long run. A person who reads makes one in a few seconds.
pub const PER_SECOND: u32 = 60;

/// The buckets of one server, at most one for each account.
#[derive(Default)]
pub struct RateLimits(Mutex<HashMap<AccountId, Bucket>>);

#[derive(Clone, Copy)]
struct Bucket {
    /// Thousandths of a request.
    left: u64,
    at: Time,
}

/// The state of the limit after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    pub requests: u32,
    /// The time until the bucket is full.
    pub full_in: Duration,
    /// The time until the next request, if none is left.
    pub wait: Option<Duration>,
}

impl RateLimits {
    /// Takes one request from the bucket, if there is one.
    pub fn take(&self, account: AccountId, now: Time) -> RateLimit {
        const FULL: u64 = BURST as u64 * 1000;
        // The lock guards counts only, which a panic elsewhere leaves valid.
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(account).or_insert(Bucket { left: FULL, at: now });
        let passed = u64::try_from(now.since(bucket.at).as_millis()).unwrap_or(u64::MAX);
        let filled = passed.saturating_mul(PER_SECOND.into());
        *bucket = Bucket { left: bucket.left.saturating_add(filled).min(FULL), at: now };
        let wait = (bucket.left < 1000).then(|| lasting(1000 - bucket.left));
        if wait.is_none() {
            bucket.left -= 1000;
        }
        let requests = u32::try_from(bucket.left / 1000).unwrap_or(BURST);
        RateLimit { requests, full_in: lasting(FULL - bucket.left), wait }
    }
}

/// Returns the time that this many thousandths take. `PER_SECOND` thousandths come each
/// millisecond.
fn lasting(thousandths: u64) -> Duration {
    Duration::from_millis(thousandths.div_ceil(PER_SECOND.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Time = Time::from_secs(1_700_000_000);

    #[test]
    fn a_bucket_runs_dry_and_fills_up_again() {
        let (rates, anna) = (RateLimits::default(), AccountId(1));
        for n in 1..=BURST {
            let left = rates.take(anna, T0);
            assert_eq!((left.requests, left.wait), (BURST - n, None));
        }
        let left = rates.take(anna, T0);
        assert_eq!(left.wait, Some(Duration::from_millis(17)));
        assert_eq!(left.full_in, Duration::from_secs(20));
        assert_eq!(rates.take(AccountId(2), T0).wait, None, "others have their own");
        let later = T0 + Duration::from_secs(1);
        for _ in 0..PER_SECOND {
            assert_eq!(rates.take(anna, later).wait, None);
        }
        assert!(rates.take(anna, later).wait.is_some());
        let left = rates.take(anna, later + Duration::from_secs(9999));
        assert_eq!(left.requests, BURST - 1, "it holds no more than it holds");
    }

    #[test]
    fn a_clock_that_goes_back_takes_nothing_away() {
        let (rates, anna) = (RateLimits::default(), AccountId(1));
        rates.take(anna, T0);
        let left = rates.take(anna, T0 - Duration::from_secs(60));
        assert_eq!(left.requests, BURST - 2);
    }
}
