//! Estimates the storage of a recording: before the start from published and measured figures,
//! later from its own.

use std::time::Duration;

use feed::Time;
use polling::{Bounds, Policy, PolicySpec};
use store::{Location, RecordingRow, Store};

/// The dissertation polled a feed 200 times in four weeks on average.
const PUBLISHED_INTERVAL: Duration = Duration::from_secs(28 * 86_400 / 200);
/// The growth of the database by the first poll of a feed: a document, and a window of entries with
/// texts and index (docs/notes/recording-costs.md).
const FIRST_POLL_BYTES: f64 = 61_000.0;
/// The growth by a later poll on average. Most of them bring nothing new.
const LATER_POLL_BYTES: f64 = 1060.0;

/// The polls and bytes of a whole recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub polls: f64,
    pub bytes: f64,
    feeds: u64,
}

impl Estimate {
    /// Estimates before the start. A fixed interval is known; for other rules the published mean is
    /// taken, within their bounds.
    pub fn before(feeds: u64, length: Duration, policy: &PolicySpec, bounds: Bounds) -> Estimate {
        let bounds = policy.bounds(bounds);
        let interval = match policy.policy {
            Policy::Fix { every } => every,
            _ => PUBLISHED_INTERVAL,
        };
        let interval = interval.clamp(bounds.alpha, bounds.beta.max(bounds.alpha));
        let later = feeds as f64 * (length.as_secs_f64() / interval.as_secs_f64().max(1.0)).floor();
        let bytes = feeds as f64 * FIRST_POLL_BYTES + later * LATER_POLL_BYTES;
        Estimate { polls: feeds as f64 + later, bytes, feeds }
    }

    pub fn words(&self) -> String {
        let polls = lab::report::count(self.polls);
        format!("estimate: about {polls} polls and {} on disk", size(self.bytes as u64))
    }
}

/// The growth of a recording, from which its size at the end is estimated.
pub struct Growth {
    before: Estimate,
    /// The size at each time.
    sizes: Vec<(Time, u64)>,
}

impl Growth {
    pub fn new(before: Estimate) -> Growth {
        Growth { before, sizes: Vec::new() }
    }

    /// Notes a size. Returns the size that is expected at the end.
    pub fn at_end(&mut self, row: &RecordingRow, bytes: u64, now: Time) -> u64 {
        self.sizes.push((now, bytes));
        let left = row.settings.ends_at.since(now).as_secs_f64();
        // First polls are large. Before the second round, the estimate of the start is better.
        if row.n_polls < 2 * self.before.feeds {
            return bytes.max(self.before.bytes as u64);
        }
        // The newer half of the time tells the growth.
        let first = self.sizes.first().map_or(now, |size| size.0);
        let middle = first + now.since(first) / 2;
        let place = self.sizes.partition_point(|size| size.0 <= middle);
        let (at, before) = self.sizes[place.saturating_sub(1)];
        let seconds = now.since(at).as_secs_f64();
        let per_second = bytes.saturating_sub(before) as f64 / seconds.max(1.0);
        if seconds > 0.0 { bytes + (per_second * left) as u64 } else { bytes }
    }
}

/// Tells what was recorded until now.
pub fn so_far(row: &RecordingRow, disk: Option<u64>, at_end: u64) -> String {
    let per_poll = row.stored_bytes.checked_div(row.n_polls).unwrap_or(0);
    let stored = size(row.stored_bytes);
    let disk = disk.map_or(String::new(), |bytes| format!(", {} on disk", size(bytes)));
    format!(
        "{} polls, {stored} of messages and documents ({per_poll} bytes a poll){disk}; about {} \
         at the end",
        row.n_polls,
        size(at_end)
    )
}

/// Returns the size of the database; `None` if it is on a server.
pub fn on_disk(location: &Location, store: &Store) -> Option<u64> {
    let Location::Folder(_) = location else { return None };
    let len = |path: &std::path::Path| std::fs::metadata(path).ok().map(|meta| meta.len());
    let mut log = store.path().as_os_str().to_owned();
    log.push("-wal");
    Some(len(store.path())? + len(log.as_ref()).unwrap_or(0))
}

/// Warns if the disk has no room for so many more bytes.
pub fn warn_of_room(location: &Location, store: &Store, more: u64) {
    let free = match location {
        Location::Folder(_) => api::free_bytes(store.path()),
        Location::Postgres(_) => None,
    };
    if let Some(free) = free.filter(|free| *free < more) {
        tracing::warn!(
            "the disk has {} left, but the recording may need {} more; --max-size ends it earlier",
            size(free),
            size(more)
        );
    }
}

/// Shows a size.
pub fn size(bytes: u64) -> String {
    lab::report::bytes(bytes as f64)
}

#[cfg(test)]
mod tests {
    use store::NewRecording;

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn before(feeds: u64, length: Duration, policy: &str) -> Estimate {
        Estimate::before(feeds, length, &policy.parse().unwrap(), Bounds::EVALUATION)
    }

    #[test]
    fn the_dissertations_load_is_in_its_estimate() {
        let found = before(200_000, 28 * DAY, "recording@1m..6h");
        assert_eq!(found.polls, 200_000.0 * 201.0);
        assert!(found.words().contains("40,200,000 polls and 54.60 GB"), "{}", found.words());
    }

    #[test]
    fn first_polls_and_the_interval_of_the_policy_count() {
        assert_eq!(before(100, DAY / 24, "fix:10m@10m..10m").polls, 700.0);
        // A short recording still makes the first poll of every feed.
        let short = before(1000, Duration::from_secs(60), "recording@1m..6h");
        assert_eq!((short.polls, short.bytes), (1000.0, 61_000_000.0));
    }

    #[test]
    fn later_the_own_growth_counts() {
        let settings = NewRecording {
            started_at: Time::from_secs(0),
            ends_at: Time::from_secs(1000),
            policy: String::new(),
            user_agent: String::new(),
            feed_bytes_max: None,
            bytes_max: None,
        };
        let row = |n_polls| RecordingRow {
            id: 1,
            settings: settings.clone(),
            ended_at: None,
            n_polls,
            stored_bytes: 50_000,
        };
        let mut growth = Growth::new(before(10, Duration::from_secs(1000), "recording@1m..6h"));
        // In the first round the estimate of the start stands: ten first polls.
        assert_eq!(growth.at_end(&row(5), 300_000, Time::from_secs(100)), 610_000);
        assert_eq!(growth.at_end(&row(20), 500_000, Time::from_secs(200)), 500_000 + 2000 * 800);
        let sure = growth.at_end(&row(40), 510_000, Time::from_secs(300));
        assert_eq!(sure, 510_000 + 100 * 700, "the first polls are forgotten");
        let words = so_far(&row(100), Some(510_000), sure);
        assert!(words.contains("(500 bytes a poll), 510 kB on disk; about 580 kB"), "{words}");
    }
}
