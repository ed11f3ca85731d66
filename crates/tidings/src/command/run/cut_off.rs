//! When a controller that cannot reach the bus gives its seat to another process. Terminals do not
//! hear it, so only a process that reaches the bus can let them work.

use std::time::Duration;

use store::{MachineRole, MachineRow, MachineWish};

/// After so long without the bus the seat is given back.
const CUT_OFF_MAX: Duration = Duration::from_secs(15);

/// The time since which the bus is away.
#[derive(Debug, Default)]
pub struct CutOff {
    since: Option<Duration>,
}

impl CutOff {
    /// Notes the state of the connection at a moment of a clock that never goes back. Returns
    /// whether the bus has been away for long enough.
    pub fn is_over(&mut self, is_connected: bool, now: Duration) -> bool {
        if is_connected {
            self.since = None;
            return false;
        }
        now.saturating_sub(*self.since.get_or_insert(now)) >= CUT_OFF_MAX
    }
}

/// Returns whether a process waits for the seat that reaches the bus and may take it.
pub fn another_waits(machines: &[MachineRow]) -> bool {
    machines.iter().any(|row| {
        row.role == MachineRole::Standby && row.network_up && row.wish != MachineWish::Drain
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_cut_without_a_break_counts() {
        let mut cut = CutOff::default();
        let at = Duration::from_secs;
        assert!(!cut.is_over(false, at(100)));
        assert!(!cut.is_over(false, at(114)));
        assert!(!cut.is_over(true, at(114)));
        assert!(!cut.is_over(false, at(115)), "it was connected meanwhile");
        assert!(!cut.is_over(false, at(129)));
        assert!(cut.is_over(false, at(130)));
    }
}
