//! Polls a second of one terminal, over about the last ten seconds. Pure: the caller gives the
//! count and the time.

use std::collections::VecDeque;
use std::time::Duration;

/// The time over which polls are counted.
const RATE_OVER: Duration = Duration::from_secs(10);
/// Counts are kept at most this often, so that a page that is loaded again and again keeps few.
const COUNT_EVERY: Duration = Duration::from_secs(1);

/// The counts of the last seconds.
pub(super) struct PollRate {
    /// Moments and the number of polls until then, the oldest first; never empty.
    counts: VecDeque<(Duration, u64)>,
}

impl PollRate {
    pub fn begin(clock: Duration) -> PollRate {
        PollRate { counts: VecDeque::from([(clock, 0)]) }
    }

    /// Notes the number of polls until now, and returns polls a second.
    pub fn now(&mut self, n_polls: u64, clock: Duration) -> f64 {
        if self.counts.back().is_none_or(|(at, _)| *at + COUNT_EVERY <= clock) {
            self.counts.push_back((clock, n_polls));
        }
        while self.counts.get(1).is_some_and(|(at, _)| *at + RATE_OVER <= clock) {
            self.counts.pop_front();
        }
        let (began, before) = self.counts.front().copied().unwrap_or((clock, n_polls));
        let over = clock.saturating_sub(began).max(COUNT_EVERY);
        n_polls.saturating_sub(before) as f64 / over.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_ten_seconds() {
        let secs = Duration::from_secs;
        let mut rate = PollRate::begin(secs(100));
        assert_eq!(rate.now(0, secs(100)), 0.0);
        assert_eq!(rate.now(30, secs(102)), 15.0, "polls are seen after a beat");
        assert_eq!(rate.now(30, secs(110)), 3.0);
        assert_eq!(rate.now(30, secs(112)), 0.0, "older polls do not count");
        for at in 112..1000 {
            rate.now(at, secs(at));
        }
        assert_eq!(rate.now(1010, secs(1010)), 1.0);
        assert!(rate.counts.len() < 15);
    }
}
