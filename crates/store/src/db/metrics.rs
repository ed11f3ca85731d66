//! What the store counts of its own work since it was opened: how long commits take, what waits
//! for one, how late entries were seen. Written by whoever works, read by whoever watches; nothing
//! is decided by it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::{PollRecord, Recorded, StoreError};

const MINUTE: u64 = 60;
const HOUR: u64 = 3600;

/// From "at once" to "the next morning" to "after the holidays".
const DELAYS: &[Duration] = &[
    Duration::from_secs(MINUTE),
    Duration::from_secs(5 * MINUTE),
    Duration::from_secs(15 * MINUTE),
    Duration::from_secs(30 * MINUTE),
    Duration::from_secs(HOUR),
    Duration::from_secs(2 * HOUR),
    Duration::from_secs(4 * HOUR),
    Duration::from_secs(8 * HOUR),
    Duration::from_secs(24 * HOUR),
    Duration::from_secs(7 * 24 * HOUR),
];

/// From a disk that lies about its syncs to one that is about to fail.
const COMMITS: &[Duration] = &[
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(5),
];

/// How often durations fell where, counted by many threads at once.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [Duration],
    /// One for each bound, and one for what is above the last.
    cells: Vec<AtomicU64>,
    total_us: AtomicU64,
}

/// A histogram as it was at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Each bound and how many were not above it.
    pub up_to: Vec<(Duration, u64)>,
    pub count: u64,
    pub total: Duration,
}

impl Histogram {
    /// `bounds` ascend.
    pub fn new(bounds: &'static [Duration]) -> Histogram {
        let cells = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Histogram { bounds, cells, total_us: AtomicU64::new(0) }
    }

    pub fn note(&self, value: Duration) {
        let cell = self.bounds.partition_point(|bound| *bound < value);
        self.cells[cell].fetch_add(1, Ordering::Relaxed);
        let us = u64::try_from(value.as_micros()).unwrap_or(u64::MAX);
        self.total_us.fetch_add(us, Ordering::Relaxed);
    }

    pub fn read(&self) -> Distribution {
        let mut count = 0;
        let mut sums = self.cells.iter().map(|cell| {
            count += cell.load(Ordering::Relaxed);
            count
        });
        let up_to = self.bounds.iter().copied().zip(sums.by_ref()).collect();
        // What lies above every bound is in the count only.
        sums.for_each(drop);
        Distribution {
            up_to,
            count,
            total: Duration::from_micros(self.total_us.load(Ordering::Relaxed)),
        }
    }
}

/// The counters behind [`Figures`].
#[derive(Debug)]
pub(crate) struct Tally {
    delays: Histogram,
    commits: Histogram,
    commits_failed: AtomicU64,
    matches: AtomicU64,
    /// Sent to the writer and not yet taken.
    pub waiting: AtomicU64,
    trouble: Mutex<Option<Arc<str>>>,
}

/// The store's own work, from its opening on.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// From an entry's own date to when it was seen; only of entries whose date can be believed,
    /// and not of those that a feed already had when it was first polled.
    pub delays: Distribution,
    pub commits: Distribution,
    pub commits_failed: u64,
    /// Entries that queries kept.
    pub matches: u64,
    /// Changes that wait for the writer.
    pub waiting: u64,
}

impl Tally {
    pub fn new() -> Tally {
        Tally {
            delays: Histogram::new(DELAYS),
            commits: Histogram::new(COMMITS),
            commits_failed: AtomicU64::new(0),
            matches: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            trouble: Mutex::new(None),
        }
    }

    /// A group of changes took so long until it was on disk.
    pub fn committed(&self, took: Duration) {
        self.commits.note(took);
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// A group of changes was lost.
    pub fn lost(&self, error: &StoreError) {
        self.commits_failed.fetch_add(1, Ordering::Relaxed);
        let why = Some(Arc::from(error.to_string()));
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    pub fn recorded(&self, delays: &[Duration], recorded: &Recorded) {
        delays.iter().for_each(|delay| self.delays.note(*delay));
        self.matches.fetch_add(recorded.n_matches, Ordering::Relaxed);
    }

    pub fn trouble(&self) -> Option<Arc<str>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn read(&self) -> Figures {
        Figures {
            delays: self.delays.read(),
            commits: self.commits.read(),
            commits_failed: self.commits_failed.load(Ordering::Relaxed),
            matches: self.matches.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }
}

/// How late the new entries of a poll were seen. A feed's first document says nothing about that:
/// without a common entry, or the suspicion that some were missed, it is the first.
pub(crate) fn delays(record: &PollRecord) -> Vec<Duration> {
    if record.overlap == 0 && !record.suspected_miss {
        return Vec::new();
    }
    let dated = record.new.iter().filter(|new| new.published.claim == Some(new.published.at));
    dated.map(|new| record.at.since(new.published.at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_a_bound_is_not_above_it() {
        let histogram = Histogram::new(COMMITS);
        for ms in [0, 1, 2, 5000, 5001] {
            histogram.note(Duration::from_millis(ms));
        }
        let read = histogram.read();
        let up_to: Vec<u64> = read.up_to.iter().map(|(_, n)| *n).collect();
        assert_eq!(up_to, [2, 3, 3, 3, 3, 3, 3, 3, 3, 4]);
        assert_eq!((read.count, read.total), (5, Duration::from_millis(10_004)));
    }
}
