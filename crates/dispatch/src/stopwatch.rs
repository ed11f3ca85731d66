//! Real time since the controller started. Grants and their deadlines count by it, because a
//! request takes real time even where the engine's clock runs fast or stands still.

use std::time::{Duration, Instant};

/// A clock that shows the time since it was started.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Instant,
}

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "requests take real time, whatever the clock")]
    pub fn start() -> Stopwatch {
        Stopwatch { started: Instant::now() }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
