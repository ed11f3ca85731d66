//! The one source of `now` and of sleeping. No crate below the engine reads a clock.
//!
//! Network timeouts and the deadlines of grants run in real time. Gaps, backoff and `seen_at` run
//! in this clock's time, which is faster than real time in the demo.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use feed::Time;

/// The longest sleep, even if nothing is due: the system's clock may have been set, or the machine
/// may have slept.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// A source of `now`.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The system's clock.
    System,
    /// Starts at `origin` and runs `speed` times as fast as real time.
    Fast { origin: Time, started: Instant, speed: f64 },
    /// Stands still until it is set.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// Makes a clock that starts at `origin` now and runs `speed` times as fast as real time.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn fast(origin: Time, speed: f64) -> Clock {
        Clock::Fast { origin, started: Instant::now(), speed: speed.max(1e-3) }
    }

    /// Makes a clock for tests that stands at `at`.
    pub fn manual(at: Time) -> Clock {
        Clock::Manual(Arc::new(AtomicI64::new(at.millis())))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn now(&self) -> Time {
        match self {
            Clock::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
            Clock::Fast { origin, started, speed } => *origin + started.elapsed().mul_f64(*speed),
            Clock::Manual(ms) => Time::from_millis(ms.load(Ordering::SeqCst)),
        }
    }

    /// Sets a manual clock; the others ignore it.
    pub fn set(&self, at: Time) {
        if let Clock::Manual(ms) = self {
            ms.store(at.millis(), Ordering::SeqCst);
        }
    }

    /// Sleeps until `at` or for one second, whichever comes first.
    pub async fn sleep_until(&self, at: Time) {
        let ahead = at.since(self.now());
        let real = match self {
            Clock::System => ahead,
            Clock::Fast { speed, .. } => ahead.div_f64(*speed),
            Clock::Manual(_) => ahead.min(Duration::from_millis(1)),
        };
        tokio::time::sleep(real.min(SLEEP_MAX)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_runs_ahead_from_its_origin() {
        let clock = Clock::fast(Time::from_secs(1000), 1e6);
        let first = clock.now();
        std::thread::sleep(Duration::from_millis(2));
        assert!(clock.now() > first + Duration::from_secs(1000));
    }

    #[test]
    fn a_manual_clock_stands_until_it_is_set() {
        let clock = Clock::manual(Time::from_secs(1));
        assert_eq!(clock.now(), Time::from_secs(1));
        clock.set(Time::from_secs(9));
        assert_eq!(clock.now(), Time::from_secs(9));
    }
}
