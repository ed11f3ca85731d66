//! The rules by which a terminal takes a job. They keep one promise: a granted request is sent once
//! at most, and not after the moment until which the controller allows it. Pure: the caller gives
//! the time of its own stopwatch.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use dispatch::GrantId;

/// The knowledge of a terminal about the active controller, and the grants that it has seen.
#[derive(Debug, Default)]
pub struct Acceptance {
    seat: Option<KnownSeat>,
    /// The highest epoch so far. A controller that lost its seat may still answer for a moment.
    epoch_max: i64,
    seen: HashSet<GrantId>,
    /// The same grants in the order of arrival, with the moment at which each may be forgotten.
    order: VecDeque<(Duration, GrantId)>,
    #[cfg(feature = "mutants")]
    broken: Option<BrokenRule>,
}

/// A rule that a mutant of the simulation breaks.
#[cfg(feature = "mutants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenRule {
    ForgetsGrants,
    IgnoresSendBy,
}

/// The last answer of the active controller.
#[derive(Clone, Copy, Debug)]
struct KnownSeat {
    epoch: i64,
    /// The controller's stopwatch when it answered.
    clock: Duration,
    /// Our stopwatch before the question was sent.
    asked_at: Duration,
    grant_life: Duration,
}

impl Acceptance {
    /// Notes the answer of the controller to a question that was sent at `asked_at`. Returns false
    /// for a controller that another one has replaced.
    pub fn seat(
        &mut self,
        epoch: i64,
        clock: Duration,
        grant_life: Duration,
        asked_at: Duration,
    ) -> bool {
        if epoch < self.epoch_max {
            return false;
        }
        self.epoch_max = epoch;
        self.seat = Some(KnownSeat { epoch, clock, asked_at, grant_life });
        true
    }

    /// Forgets the controller. Jobs are not sent until another one answers.
    pub fn no_seat(&mut self) {
        self.seat = None;
    }

    /// Forgets the controller of an epoch, which leaves its seat. Another one may have it already.
    pub fn leaves(&mut self, epoch: i64) {
        if self.epoch_max <= epoch {
            self.no_seat();
        }
    }

    /// The time from a grant to its end, if a controller is known.
    pub fn grant_life(&self) -> Option<Duration> {
        self.seat.map(|seat| seat.grant_life)
    }

    pub fn epoch(&self) -> Option<i64> {
        self.seat.map(|seat| seat.epoch)
    }

    /// Notes the arrival of a job. Returns false for a job that arrived before: its request was
    /// sent or refused already.
    pub fn arrived(&mut self, grant: GrantId, now: Duration) -> bool {
        while let Some(&(until, old)) = self.order.front()
            && until < now
        {
            self.order.pop_front();
            self.seen.remove(&old);
        }
        #[cfg(feature = "mutants")]
        if self.broken == Some(BrokenRule::ForgetsGrants) {
            return true;
        }
        if !self.seen.insert(grant) {
            return false;
        }
        // Without a seat the job is refused, whenever it comes again.
        let life = self.seat.map_or(UNKNOWN_LIFE, |seat| seat.grant_life);
        self.order.push_back((now + life, grant));
        true
    }

    /// Returns whether a request may be sent now. `send_by` is by the controller's stopwatch. The
    /// terminal knows an upper bound of it: the answer's clock plus the time since the question.
    pub fn may_send(&self, epoch: i64, send_by: Duration, now: Duration) -> bool {
        let Some(seat) = self.seat.filter(|seat| seat.epoch == epoch) else { return false };
        #[cfg(feature = "mutants")]
        if self.broken == Some(BrokenRule::IgnoresSendBy) {
            return true;
        }
        seat.clock + now.saturating_sub(seat.asked_at) <= send_by
    }

    /// Breaks a rule, to show that the simulation notices it.
    #[cfg(feature = "mutants")]
    pub fn break_rule(&mut self, rule: BrokenRule) {
        self.broken = Some(rule);
    }
}

/// How long a grant is remembered if no controller has named its life yet.
const UNKNOWN_LIFE: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Duration = Duration::from_secs(90);

    fn secs(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn a_grant_is_taken_once_within_its_life() {
        let mut rules = Acceptance::default();
        rules.seat(1, secs(100), LIFE, secs(0));
        assert!(rules.arrived(GrantId(1), secs(1)));
        assert!(!rules.arrived(GrantId(1), secs(2)));
        assert!(!rules.arrived(GrantId(1), secs(91)));
        assert!(rules.arrived(GrantId(2), secs(92)));
        assert_eq!(rules.seen.len(), 1, "the first one is forgotten after its life");
    }

    #[test]
    fn the_bound_of_the_controllers_clock_counts_from_the_question() {
        let mut rules = Acceptance::default();
        assert!(!rules.may_send(1, secs(1000), secs(0)), "no controller is known");
        // Asked at 10; the answer may have taken any time.
        rules.seat(1, secs(100), LIFE, secs(10));
        assert!(rules.may_send(1, secs(105), secs(15)));
        assert!(!rules.may_send(1, secs(105), secs(16)));
        assert!(!rules.may_send(2, secs(1000), secs(11)), "a job of another epoch");
        rules.no_seat();
        assert!(!rules.may_send(1, secs(105), secs(11)));
        assert!(rules.seat(3, secs(0), LIFE, secs(20)));
        assert!(!rules.seat(2, secs(0), LIFE, secs(20)), "it has lost its seat");
        assert_eq!(rules.epoch(), Some(3));
        rules.leaves(2);
        assert_eq!(rules.epoch(), Some(3), "an old message of the one before");
        rules.leaves(3);
        assert_eq!((rules.epoch(), rules.grant_life()), (None, None));
    }
}
