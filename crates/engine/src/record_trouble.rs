//! Records that the store did not take: how long their feeds wait, and how often the log says so.
//! The wait grows only for a fault of the record itself. A store that is full or away refuses every
//! feed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use feed::FeedId;
use polling::backoff;
use store::{ErrorKind, StoreError};

/// The trouble with records so far.
#[derive(Default)]
pub struct RecordTrouble {
    /// The minute in which trouble was last logged.
    logged: AtomicI64,
    /// Feeds with refused records, and how many in a row.
    refused: Mutex<HashMap<FeedId, u32>>,
}

impl RecordTrouble {
    /// Returns whether nothing was logged in this minute yet.
    pub fn may_log(&self, minute: i64) -> bool {
        self.logged.swap(minute, Ordering::Relaxed) != minute
    }

    /// Notes that a record was refused. Returns the wait until the next poll, `shortest` at least.
    pub fn note(&self, feed: FeedId, error: &StoreError, shortest: Duration) -> Duration {
        if error.is_unavailable() || !matches!(error.kind(), ErrorKind::Value | ErrorKind::Other) {
            return shortest;
        }
        let mut counts = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(feed).or_default();
        *count = count.saturating_add(1);
        backoff::after(*count, shortest, 0.0)
    }

    /// Notes that a record of the feed was stored.
    pub fn end(&self, feed: FeedId) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).remove(&feed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_only_for_a_record_that_is_refused_for_itself() {
        let (refused, minute) = (RecordTrouble::default(), Duration::from_secs(60));
        let (feed, fault) = (FeedId(1), StoreError::Matching);
        let waits = [(); 13].map(|()| refused.note(feed, &fault, minute).as_secs());
        assert_eq!(waits[..3], [60, 120, 240]);
        assert_eq!(waits[12], 86_400);
        let away = StoreError::OutcomeUnknown;
        assert_eq!(refused.note(feed, &away, minute), minute);
        assert_eq!(refused.note(FeedId(2), &fault, minute), minute);
        refused.end(feed);
        assert_eq!(refused.note(feed, &fault, minute), minute);
    }
}
