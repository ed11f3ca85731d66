//! Pace: one request at a time per registrable domain, a gap between two, and `Retry-After`. It
//! computes the time from which a request is allowed.

use std::time::Duration;

use feed::{RetryAfter, Time};

/// The longest `Retry-After` that is obeyed. A longer one does not target a feed reader; the feed's
/// own backoff and a weekly poll are polite enough.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(7 * 86_400);
/// The first wait after a 429 or 503 without `Retry-After`; it doubles with every repetition.
const REFUSED_FIRST: Duration = Duration::from_secs(5 * 60);
/// The longest wait of that kind.
const REFUSED_MAX: Duration = Duration::from_secs(86_400);

/// The pace of one domain. It is stored, so that a restart keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DomainPace {
    /// When the last request to the domain ended.
    pub last_request_end: Option<Time>,
    /// The domain asked for no request before this time.
    pub not_before: Option<Time>,
    /// The number of 429 and 503 responses in a row.
    pub refusals: u32,
}

/// Returns when a request to the domain is allowed; `now` if at once.
///
/// ```
/// use polling::pace::{DomainPace, next_allowed};
/// use feed::Time;
/// let pace = DomainPace { last_request_end: Some(Time::from_secs(10)), ..DomainPace::default() };
/// let gap = std::time::Duration::from_secs(2);
/// assert_eq!(next_allowed(&pace, gap, Time::from_secs(11)), Time::from_secs(12));
/// ```
pub fn next_allowed(pace: &DomainPace, gap: Duration, now: Time) -> Time {
    // A clock that was set back must not block a domain for the difference.
    let after_gap = pace.last_request_end.map(|end| end.min(now) + gap);
    let asked = pace.not_before.map(|t| t.min(now + RETRY_AFTER_MAX));
    [after_gap, asked].into_iter().flatten().fold(now, Time::max)
}

impl DomainPace {
    /// Records a request that ended without a refusal.
    pub fn answered(&mut self, at: Time) {
        self.last_request_end = Some(at);
        self.refusals = 0;
    }

    /// Records a request that ended with 429 or 503. Returns when the domain may be requested
    /// again.
    pub fn refused(&mut self, at: Time, retry_after: Option<RetryAfter>) -> Time {
        self.last_request_end = Some(at);
        self.refusals = self.refusals.saturating_add(1);
        let wait = match retry_after {
            Some(RetryAfter::After(wait)) => wait,
            Some(RetryAfter::At(t)) => t.since(at),
            None => REFUSED_FIRST * (1 << (self.refusals - 1).min(9)),
        };
        let wait_max = if retry_after.is_some() { RETRY_AFTER_MAX } else { REFUSED_MAX };
        let until = at + wait.min(wait_max);
        // A later response never shortens an earlier wait.
        let until = self.not_before.map_or(until, |t| t.max(until));
        self.not_before = Some(until);
        until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Duration = Duration::from_secs(2);

    fn at(s: i64) -> Time {
        Time::from_secs(s)
    }

    #[test]
    fn a_domain_never_asked_may_be_asked_at_once() {
        assert_eq!(next_allowed(&DomainPace::default(), GAP, at(5)), at(5));
    }

    #[test]
    fn retry_after_binds_in_seconds_and_as_a_date() {
        let mut pace = DomainPace::default();
        assert_eq!(
            pace.refused(at(100), Some(RetryAfter::After(Duration::from_secs(60)))),
            at(160)
        );
        assert_eq!(next_allowed(&pace, GAP, at(101)), at(160));
        assert_eq!(pace.refused(at(200), Some(RetryAfter::At(at(500)))), at(500));
        assert_eq!(pace.refused(at(300), Some(RetryAfter::After(Duration::from_secs(1)))), at(500));
    }

    #[test]
    fn absurd_values_are_capped_and_past_dates_mean_now() {
        let mut pace = DomainPace::default();
        assert_eq!(pace.refused(at(100), Some(RetryAfter::At(at(5)))), at(100));
        let week = at(100) + RETRY_AFTER_MAX;
        assert_eq!(
            pace.refused(at(100), Some(RetryAfter::After(Duration::from_secs(u64::MAX)))),
            week
        );
        let stored = DomainPace { not_before: Some(Time::MAX), ..pace };
        assert_eq!(next_allowed(&stored, GAP, at(100)), week);
    }

    #[test]
    fn refusals_without_a_time_double_up_to_a_day_and_an_answer_forgets_them() {
        let mut pace = DomainPace::default();
        assert_eq!(pace.refused(at(0), None), at(300));
        assert_eq!(pace.refused(at(1000), None), at(1600));
        for _ in 0..40 {
            pace.refused(at(2000), None);
        }
        assert_eq!(pace.not_before, Some(at(2000 + 86_400)));
        pace.answered(at(100_000));
        assert_eq!(pace.refused(at(100_000), None), at(100_300));
    }

    #[test]
    fn a_clock_that_was_set_back_blocks_no_domain() {
        let pace = DomainPace { last_request_end: Some(at(1_000_000)), ..DomainPace::default() };
        assert_eq!(next_allowed(&pace, GAP, at(10)), at(12));
    }
}
