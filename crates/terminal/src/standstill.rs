//! Notices that this process stood still: it was stopped, or the machine slept or was overloaded.
//! Failures of that time say nothing about servers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dispatch::{PollReading, PollResult, Stopwatch};
use feed::Trouble;

const TICK: Duration = Duration::from_millis(500);
/// A tick that comes so late means that the process stood still.
const LATE: Duration = Duration::from_secs(3);

/// Counts the times at which this process stood still.
#[derive(Debug)]
pub struct Standstill {
    stopwatch: Stopwatch,
    /// The last tick, in milliseconds of the stopwatch.
    ticked_at: AtomicU64,
    n: AtomicU64,
}

impl Standstill {
    pub fn new(stopwatch: Stopwatch) -> Standstill {
        let ticked_at = AtomicU64::new(millis(stopwatch.elapsed()));
        Standstill { stopwatch, ticked_at, n: AtomicU64::new(0) }
    }

    /// Ticks until the task is dropped.
    pub async fn watch(&self) {
        loop {
            tokio::time::sleep(TICK).await;
            self.tick(self.stopwatch.elapsed());
        }
    }

    /// The number of times so far. Two equal numbers mean that the process ran in between.
    pub fn count(&self) -> u64 {
        self.count_at(self.stopwatch.elapsed())
    }

    fn tick(&self, now: Duration) {
        let late = self.is_late(now);
        self.n.fetch_add(u64::from(late), Ordering::Relaxed);
        self.ticked_at.store(millis(now), Ordering::Relaxed);
    }

    fn count_at(&self, now: Duration) -> u64 {
        // Other tasks may run before the late tick.
        self.n.load(Ordering::Relaxed) + u64::from(self.is_late(now))
    }

    fn is_late(&self, now: Duration) -> bool {
        let since = millis(now).saturating_sub(self.ticked_at.load(Ordering::Relaxed));
        since >= millis(TICK + LATE)
    }
}

/// Takes the blame for an exchange that failed while this process stood still.
pub fn without_blame(result: PollResult) -> PollResult {
    let blames = matches!(
        result.reading,
        PollReading::Failed {
            trouble: Trouble::Timeout
                | Trouble::Connect
                | Trouble::Tls
                | Trouble::Lookup
                | Trouble::Protocol,
            ..
        }
    );
    if !blames {
        return result;
    }
    PollResult { reading: PollReading::WorkerFailed, ..result }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use dispatch::{GrantId, SoFar};
    use feed::FeedId;

    use super::*;

    #[test]
    fn a_late_tick_is_counted_once_and_seen_before_it_comes() {
        let (watch, at) = (Standstill::new(Stopwatch::start()), Duration::from_millis);
        watch.tick(at(500));
        watch.tick(at(1100));
        assert_eq!(watch.count_at(at(1500)), 0);
        assert_eq!(watch.count_at(at(9000)), 1, "before the tick");
        watch.tick(at(9001));
        assert_eq!((watch.count_at(at(9002)), watch.count_at(at(9400))), (1, 1));
    }

    #[test]
    fn only_failures_that_a_standstill_may_cause_are_forgiven() {
        let reading = |reading| {
            let (grant, feed) = (GrantId(1), FeedId(1));
            let result = PollResult::bare(grant, feed, 0, SoFar::default(), reading);
            without_blame(result).reading
        };
        let failed = |trouble| PollReading::Failed { trouble, detail: String::new() };
        assert_eq!(reading(failed(Trouble::Timeout)), PollReading::WorkerFailed);
        assert_eq!(reading(failed(Trouble::Status)), failed(Trouble::Status));
        assert_eq!(reading(PollReading::Gone), PollReading::Gone);
    }
}
