//! Counters of the store since it was opened: how long commits take, how many changes wait, how
//! late entries were seen. All threads add to them and metrics read them. No decision depends on
//! them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::{ErrorKind, StoreError};

const MINUTE: u64 = 60;
const HOUR: u64 = 3600;

/// Bounds for delays, from one minute to a week.
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

/// Bounds for commits, from a disk that does not really sync to one that is about to fail.
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

/// A histogram of durations that many threads can add to.
#[derive(Debug)]
pub struct DurationHistogram {
    bounds: &'static [Duration],
    /// One cell for each bound, and one for values above the last bound.
    cells: Vec<AtomicU64>,
    total_us: AtomicU64,
}

/// A snapshot of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Each bound with the number of values up to it.
    pub up_to: Vec<(Duration, u64)>,
    pub count: u64,
    pub total: Duration,
}

impl DurationHistogram {
    /// `bounds` ascend.
    pub fn new(bounds: &'static [Duration]) -> DurationHistogram {
        let cells = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        DurationHistogram { bounds, cells, total_us: AtomicU64::new(0) }
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
        // Values above every bound are in the count only.
        sums.for_each(drop);
        Distribution {
            up_to,
            count,
            total: Duration::from_micros(self.total_us.load(Ordering::Relaxed)),
        }
    }
}

/// The counters behind [`StoreMetrics`].
#[derive(Debug)]
pub(crate) struct StoreCounters {
    delays: DurationHistogram,
    commits: DurationHistogram,
    changes: AtomicU64,
    commits_failed: AtomicU64,
    matches: AtomicU64,
    /// Jobs sent to the writer and not started yet.
    pub waiting: AtomicU64,
    trouble: Mutex<Option<Arc<str>>>,
    /// The connection that writes is lost for good.
    pub disconnected: AtomicBool,
}

/// A snapshot of the counters.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreMetrics {
    /// The time from an entry's own date until it was seen. Counts only entries with a credible
    /// date, and not those that a feed already had at its first poll.
    pub delays: Distribution,
    pub commits: Distribution,
    /// Changes in the groups that were written.
    pub changes: u64,
    pub commits_failed: u64,
    /// Matches of queries.
    pub matches: u64,
    /// Changes waiting for the writer.
    pub waiting: u64,
}

impl StoreCounters {
    pub fn new() -> StoreCounters {
        StoreCounters {
            delays: DurationHistogram::new(DELAYS),
            commits: DurationHistogram::new(COMMITS),
            changes: AtomicU64::new(0),
            commits_failed: AtomicU64::new(0),
            matches: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            trouble: Mutex::new(None),
            disconnected: AtomicBool::new(false),
        }
    }

    /// Notes how long a group of `n_changes` took until it was on disk.
    fn committed(&self, took: Duration, n_changes: usize) {
        self.commits.note(took);
        self.changes.fetch_add(n_changes as u64, Ordering::Relaxed);
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Notes the end of a group: why all of it was lost, or the errors of its jobs. PostgreSQL
    /// undoes only the job that finds the disk full. A group without jobs is a sign of life, which
    /// needs no space and proves nothing.
    pub fn ended<'a>(
        &self,
        lost: Option<&StoreError>,
        mut errors: impl ExactSizeIterator<Item = Option<&'a StoreError>>,
        took: Duration,
    ) {
        let n_jobs = errors.len();
        let full = errors.find_map(|error| error.filter(|one| one.kind() == ErrorKind::DiskFull));
        match lost.or(full) {
            Some(error) => self.lost(error),
            None if n_jobs == 0 => {}
            None => self.committed(took, n_jobs),
        }
    }

    /// Notes that a group of changes was lost.
    pub fn lost(&self, error: &StoreError) {
        self.commits_failed.fetch_add(1, Ordering::Relaxed);
        let why = Some(Arc::from(error.to_string()));
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Counts a recorded poll or push.
    pub fn recorded(&self, delays: &[Duration], n_matches: u64) {
        delays.iter().for_each(|delay| self.delays.note(*delay));
        self.matches.fetch_add(n_matches, Ordering::Relaxed);
    }

    pub fn trouble(&self) -> Option<Arc<str>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn read(&self) -> StoreMetrics {
        StoreMetrics {
            delays: self.delays.read(),
            commits: self.commits.read(),
            changes: self.changes.load(Ordering::Relaxed),
            commits_failed: self.commits_failed.load(Ordering::Relaxed),
            matches: self.matches.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_a_bound_is_not_above_it() {
        let histogram = DurationHistogram::new(COMMITS);
        for ms in [0, 1, 2, 5000, 5001] {
            histogram.note(Duration::from_millis(ms));
        }
        let read = histogram.read();
        let up_to: Vec<u64> = read.up_to.iter().map(|(_, n)| *n).collect();
        assert_eq!(up_to, [2, 3, 3, 3, 3, 3, 3, 3, 3, 4]);
        assert_eq!((read.count, read.total), (5, Duration::from_millis(10_004)));
    }
}
