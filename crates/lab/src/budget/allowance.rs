//! The number of polls that a strategy may spend.

use std::time::Duration;

/// A number of polls per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollAllowance {
    pub polls: usize,
    pub per: Duration,
}

impl PollAllowance {
    pub(super) fn per_cycle(&self, cycle: Duration) -> f64 {
        self.polls as f64 * cycle.as_secs_f64() / self.per.as_secs_f64()
    }

    /// Returns the same allowance for a period that is at least one cycle.
    pub(super) fn over_cycles(self, cycle: Duration) -> PollAllowance {
        if self.per >= cycle {
            return self;
        }
        PollAllowance { polls: self.per_cycle(cycle).round() as usize, per: cycle }
    }
}
