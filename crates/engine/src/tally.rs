//! Counts of the work with terminals on other machines: what became of their results, grants that
//! ended without one, and questions for windows.

use std::sync::atomic::{AtomicU64, Ordering};

use dispatch::machine::Verdict;
use dispatch::{BusCounts, RoadFigures};

/// The counts, written by the tasks of the controller.
#[derive(Debug, Default)]
pub struct RoadTally {
    recorded: AtomicU64,
    stale: AtomicU64,
    refused: AtomicU64,
    not_sent: AtomicU64,
    late: AtomicU64,
    expired: AtomicU64,
    window_questions: AtomicU64,
}

impl RoadTally {
    pub fn answered(&self, verdict: &Verdict) {
        add(match verdict {
            Verdict::Recorded => &self.recorded,
            Verdict::Stale => &self.stale,
            Verdict::Refused { .. } => &self.refused,
        });
    }

    pub fn refused(&self) {
        add(&self.refused);
    }

    pub fn not_sent(&self) {
        add(&self.not_sent);
    }

    pub fn late(&self) {
        add(&self.late);
    }

    pub fn expired(&self) {
        add(&self.expired);
    }

    pub fn window_question(&self) {
        add(&self.window_questions);
    }

    pub fn read(&self, bus: BusCounts) -> RoadFigures {
        let n = |count: &AtomicU64| count.load(Ordering::Relaxed);
        RoadFigures {
            recorded: n(&self.recorded),
            stale: n(&self.stale),
            refused: n(&self.refused),
            not_sent: n(&self.not_sent),
            late: n(&self.late),
            expired: n(&self.expired),
            window_questions: n(&self.window_questions),
            grant_commits: 0,
            grant_commit_micros: 0,
            messages: bus.messages,
            bytes: bus.bytes,
        }
    }
}

fn add(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}
