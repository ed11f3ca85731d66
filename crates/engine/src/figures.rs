//! The figures of the engine: the controller writes them, and any task reads them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use feed::{Outcome, Time};

use crate::event::PollAnswer;
use crate::plan::Plan;

/// The loop turns once a second or more often; a machine that is very busy may be late.
const TURN_LATE: Duration = Duration::from_secs(60);

/// The figures of the engine at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub in_flight: usize,
    pub waiting: usize,
    pub polls: u64,
    /// The same polls by outcome.
    pub seen: u64,
    pub unchanged: u64,
    pub failed: u64,
    pub damaged: u64,
    pub refused: u64,
    pub gone: u64,
    pub new_entries: u64,
    pub suspected_misses: u64,
    pub bytes: u64,
    /// Polls that ended within the last 60 minutes.
    pub polls_last_hour: u64,
    pub network_down: bool,
    /// Whether the last poll could not be recorded.
    pub cannot_record: bool,
    /// When the loop wakes up next without an event.
    pub wake_at: Time,
    /// The real time since the last turn of the loop; `None`: no turn yet.
    pub turned_ago: Option<Duration>,
    /// The loop has ended: the engine was stopped, or the loop failed.
    pub ended: bool,
}

impl Figures {
    /// Returns why no feed is polled or no result is recorded, in a few words.
    pub fn trouble(&self) -> Option<&'static str> {
        match self.turned_ago {
            _ if self.ended => Some("polling has ended"),
            None => Some("polling has not begun yet"),
            Some(ago) if ago > TURN_LATE => Some("the loop that grants polls hangs"),
            Some(_) if self.cannot_record => Some("polls cannot be recorded"),
            Some(_) => None,
        }
    }
}

/// The figures. The loop writes them and others read them.
#[derive(Debug, Default)]
pub struct Counters {
    state: Mutex<LoopState>,
    polls: AtomicU64,
    seen: AtomicU64,
    unchanged: AtomicU64,
    failed: AtomicU64,
    damaged: AtomicU64,
    refused: AtomicU64,
    gone: AtomicU64,
    new_entries: AtomicU64,
    suspected_misses: AtomicU64,
    bytes: AtomicU64,
    /// Polls by minute, for the last 60 minutes with any poll.
    minutes: Mutex<VecDeque<(i64, u64)>>,
}

/// The state of the loop at one moment. A test that moves the clock by it must see a consistent
/// state.
#[derive(Clone, Copy, Debug)]
struct LoopState {
    in_flight: usize,
    waiting: usize,
    network_down: bool,
    cannot_record: bool,
    wake_at: Time,
    turned: Option<Instant>,
    ended: bool,
}

impl Default for LoopState {
    /// Before the first turn nothing is known, so there is something to do at once.
    fn default() -> LoopState {
        LoopState {
            in_flight: 0,
            waiting: 0,
            network_down: false,
            cannot_record: false,
            wake_at: Time::MIN,
            turned: None,
            ended: false,
        }
    }
}

impl Counters {
    pub fn report<H>(
        &self,
        plan: &Plan<H>,
        network_down: bool,
        cannot_record: bool,
        wake_at: Time,
    ) {
        let (in_flight, waiting) = (plan.in_flight(), plan.n_waiting());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = LoopState {
            in_flight,
            waiting,
            network_down,
            cannot_record,
            wake_at,
            turned: Some(moment()),
            ended: false,
        };
    }

    /// Notes that the loop has ended.
    pub fn ended(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
    }

    pub fn poll_ended(&self, answer: &PollAnswer, now: Time) {
        let minute = now.secs() / 60;
        let mut minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        match minutes.back_mut() {
            Some((last, polls)) if *last == minute => *polls += 1,
            _ => minutes.push_back((minute, 1)),
        }
        while minutes.len() > 60 {
            minutes.pop_front();
        }
        drop(minutes);
        self.bytes.fetch_add(answer.bytes, Ordering::Relaxed);
        self.polls.fetch_add(1, Ordering::Relaxed);
        self.new_entries.fetch_add(answer.n_new as u64, Ordering::Relaxed);
        self.suspected_misses.fetch_add(u64::from(answer.suspected_miss), Ordering::Relaxed);
        let outcome = match answer.outcome {
            Outcome::Seen => &self.seen,
            Outcome::Unchanged => &self.unchanged,
            Outcome::Failed => &self.failed,
            Outcome::Damaged => &self.damaged,
            Outcome::Refused => &self.refused,
            Outcome::Gone => &self.gone,
        };
        outcome.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the entries of a push among the new entries.
    pub fn pushed(&self, n_new: usize) {
        self.new_entries.fetch_add(n_new as u64, Ordering::Relaxed);
    }

    pub fn read(&self, now: Time) -> Figures {
        let minute = now.secs() / 60;
        let minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        let last_hour = minutes.iter().filter(|(m, _)| minute - m < 60).map(|(_, n)| n).sum();
        drop(minutes);
        let state = *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Figures {
            polls_last_hour: last_hour,
            bytes: self.bytes.load(Ordering::Relaxed),
            in_flight: state.in_flight,
            waiting: state.waiting,
            wake_at: state.wake_at,
            polls: self.polls.load(Ordering::Relaxed),
            seen: self.seen.load(Ordering::Relaxed),
            unchanged: self.unchanged.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            damaged: self.damaged.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            gone: self.gone.load(Ordering::Relaxed),
            new_entries: self.new_entries.load(Ordering::Relaxed),
            suspected_misses: self.suspected_misses.load(Ordering::Relaxed),
            network_down: state.network_down,
            cannot_record: state.cannot_record,
            turned_ago: state.turned.map(|at| moment().duration_since(at)),
            ended: state.ended,
        }
    }
}

/// Reports the end of the loop, even after a panic.
pub struct LoopEndGuard(pub Arc<Counters>);

impl Drop for LoopEndGuard {
    fn drop(&mut self) {
        self.0.ended();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether the loop hangs does not depend on its clock"
)]
fn moment() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(ago: Option<Duration>) -> Figures {
        Figures { turned_ago: ago, ..Counters::default().read(Time::from_secs(0)) }
    }

    #[test]
    fn what_stops_polling_is_said() {
        assert_eq!(turned(Some(Duration::from_secs(2))).trouble(), None);
        assert!(turned(None).trouble().is_some_and(|why| why.contains("not begun")));
        let hung = turned(Some(TURN_LATE + Duration::from_secs(1)));
        assert!(hung.trouble().is_some_and(|why| why.contains("hangs")));
        let full = Figures { cannot_record: true, ..turned(Some(Duration::ZERO)) };
        assert!(full.trouble().is_some_and(|why| why.contains("recorded")));
    }

    #[test]
    fn a_loop_that_is_over_is_in_trouble_however_it_ended() {
        let counters = Counters::default();
        counters.ended();
        assert_eq!(counters.read(Time::from_secs(0)).trouble(), Some("polling has ended"));
    }
}
