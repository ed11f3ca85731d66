//! When a run begins, what of it counts, and when it ends.

use std::time::Duration;

use feed::Time;

use crate::World;

/// A training phase, then a test phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    pub start: Time,
    pub train: Duration,
    pub test: Duration,
    /// Policies live through the training phase with their own polls and go on.
    pub warm_up: bool,
}

/// Phases that do not fit their trace.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PhaseError {
    #[error("the trace holds no entry; nothing can be replayed")]
    Empty,
    #[error("the start {start} lies after the last entry; the trace runs from {first} to {last}")]
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
    /// The phases from `start` on (the first entry where there is none), if they fit the world.
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

    /// From here on polls and entries count.
    pub fn test_start(&self) -> Time {
        self.start + self.train
    }

    /// The last moment at which a poll may happen.
    pub fn end(&self) -> Time {
        self.test_start() + self.test
    }

    /// Where the run begins.
    pub fn run_start(&self) -> Time {
        if self.warm_up { self.start } else { self.test_start() }
    }

    /// How long the trace is silent at the end of the test, where that is more than a tenth of it:
    /// polls of that time find nothing, whoever makes them, and yet they count.
    pub fn silence(&self, world: &World) -> Option<Duration> {
        let (_, last) = world.span()?;
        let silent = self.end().since(last.max(self.test_start()));
        (silent > self.test / 10).then_some(silent)
    }

    /// A feed takes part from its first entry on: its first poll is the later of that and the
    /// run's start. `None` if the feed has nothing to show before the end.
    pub fn first_poll(&self, visible: &[Time]) -> Option<Time> {
        let first = (*visible.first()?).max(self.run_start());
        (first <= self.end()).then_some(first)
    }
}
