//! The phases of a run: its start, the part that counts, and its end.

use std::time::Duration;

use feed::Time;

use crate::World;

/// A training phase, then a test phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    pub start: Time,
    pub train: Duration,
    pub test: Duration,
    /// Whether policies make their own polls during the training phase and continue.
    pub warm_up: bool,
}

/// Phases that do not fit the trace.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhaseError {
    #[error("the trace has no entries; nothing can be replayed")]
    Empty,
    #[error("the start {start} is after the last entry; the trace runs from {first} to {last}")]
    StartTooLate { start: Time, first: Time, last: Time },
    #[error(
        "the run ends at {end}, before the first entry; the trace runs from {first} to {last}, \
         so start later"
    )]
    EndTooEarly { end: Time, first: Time, last: Time },
    #[error("the test phase is empty; give it a length such as --test 20d")]
    NoTest,
}

impl Phases {
    /// Returns the phases from `start` on (by default the first entry), if they fit the world.
    pub fn over(
        world: &World,
        start: Option<Time>,
        train: Duration,
        test: Duration,
        warm_up: bool,
    ) -> Result<Phases, PhaseError> {
        let (first, last) = world.span().ok_or(PhaseError::Empty)?;
        let start = start.unwrap_or(first);
        let phases = Phases { start, train, test, warm_up };
        if test.is_zero() {
            return Err(PhaseError::NoTest);
        }
        if start > last {
            return Err(PhaseError::StartTooLate { start, first, last });
        }
        if phases.end() < first {
            return Err(PhaseError::EndTooEarly { end: phases.end(), first, last });
        }
        Ok(phases)
    }

    /// Returns the time from which polls and entries count.
    pub fn test_start(&self) -> Time {
        self.start + self.train
    }

    /// Returns the time of the last possible poll.
    pub fn end(&self) -> Time {
        self.test_start() + self.test
    }

    /// Returns the start of the run.
    pub fn run_start(&self) -> Time {
        if self.warm_up { self.start } else { self.test_start() }
    }

    /// Returns how long the trace is silent at the end of the test, if that is more than a tenth of
    /// it. Polls of that time find nothing, but they count.
    pub fn silence(&self, world: &World) -> Option<Duration> {
        let (_, last) = world.span()?;
        let silent = self.end().since(last.max(self.test_start()));
        (silent > self.test / 10).then_some(silent)
    }

    /// Returns the first poll of a feed: its first entry or the start of the run, whichever is
    /// later. Returns `None` if the feed shows nothing before the end.
    pub fn first_poll(&self, visible: &[Time]) -> Option<Time> {
        let first = (*visible.first()?).max(self.run_start());
        (first <= self.end()).then_some(first)
    }
}
