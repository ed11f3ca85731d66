//! What the engine has done and is doing, in numbers: written by the loop, read by anybody.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use feed::{Outcome, Time};

use crate::event::PollAnswer;
use crate::plan::Plan;
use crate::poll::Poll;

/// What the engine has done and is doing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub in_flight: usize,
    pub waiting: usize,
    pub polls: u64,
    pub unchanged: u64,
    pub failed: u64,
    pub new_entries: u64,
    pub suspected_misses: u64,
    pub bytes: u64,
    /// Polls that ended within the last 60 minutes.
    pub polls_last_hour: u64,
    pub network_down: bool,
}

/// The figures, as the loop writes them and others read them.
#[derive(Debug, Default)]
pub struct Counters {
    in_flight: AtomicUsize,
    waiting: AtomicUsize,
    polls: AtomicU64,
    unchanged: AtomicU64,
    failed: AtomicU64,
    new_entries: AtomicU64,
    suspected_misses: AtomicU64,
    bytes: AtomicU64,
    /// Polls by minute, of the last 60 in which there were any.
    minutes: Mutex<VecDeque<(i64, u64)>>,
    network_down: AtomicBool,
}

impl Counters {
    pub fn report(&self, plan: &Plan<Poll>, network_down: bool) {
        self.in_flight.store(plan.in_flight(), Ordering::Relaxed);
        self.waiting.store(plan.n_waiting(), Ordering::Relaxed);
        self.network_down.store(network_down, Ordering::Relaxed);
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
        match answer.outcome {
            Outcome::Unchanged => self.unchanged.fetch_add(1, Ordering::Relaxed),
            Outcome::Failed | Outcome::Refused => self.failed.fetch_add(1, Ordering::Relaxed),
            Outcome::Seen | Outcome::Gone => 0,
        };
    }

    pub fn read(&self, now: Time) -> Figures {
        let minute = now.secs() / 60;
        let minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        let last_hour = minutes.iter().filter(|(m, _)| minute - m < 60).map(|(_, n)| n).sum();
        drop(minutes);
        Figures {
            polls_last_hour: last_hour,
            bytes: self.bytes.load(Ordering::Relaxed),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
            polls: self.polls.load(Ordering::Relaxed),
            unchanged: self.unchanged.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            new_entries: self.new_entries.load(Ordering::Relaxed),
            suspected_misses: self.suspected_misses.load(Ordering::Relaxed),
            network_down: self.network_down.load(Ordering::Relaxed),
        }
    }
}
