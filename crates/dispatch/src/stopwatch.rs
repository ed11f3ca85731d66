//! Real time since the controller started. Grants and their deadlines count by it, because a
//! request takes real time even where the engine's clock runs fast or stands still.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// A clock that shows the time since it was started. It goes on while the machine sleeps: a job
/// that arrived before must not leave after its time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Duration,
}

impl Stopwatch {
    pub fn start() -> Stopwatch {
        Stopwatch { started: running() }
    }

    pub fn elapsed(&self) -> Duration {
        running().saturating_sub(self.started)
    }
}

/// The time since the machine was started.
fn running() -> Duration {
    // The monotonic clock of Linux stops while the machine sleeps; elsewhere it goes on.
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    let nanos = u32::try_from(tv_nsec).unwrap_or_default();
    Duration::new(u64::try_from(tv_sec).unwrap_or_default(), nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_the_time_since_its_start() {
        let stopwatch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(3));
        let first = stopwatch.elapsed();
        assert!(first >= Duration::from_millis(3) && first < Duration::from_secs(600), "{first:?}");
        assert!(stopwatch.elapsed() >= first);
    }
}
