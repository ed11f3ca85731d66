//! Reads the entries of some feeds by their times of publication. A page of the newest entries
//! needs only those of the last days, however many entries the feeds have.

use std::collections::HashSet;

use feed::{FeedId, Time};

use crate::db::sql::{Connection, Value};
use crate::error::DbError;
use crate::reading::list::ReadingFilter;
use crate::reading::selection::{EntrySelection, candidate};

/// With more feeds, asking each of them several times costs more than it saves.
const FEEDS_MAX: usize = 1000;

const DAY_MS: i64 = 86_400_000;

/// The lengths of the periods that are read one after the other, from the newest entry back.
const PERIODS: [i64; 3] = [DAY_MS, 8 * DAY_MS, 64 * DAY_MS];

/// Checks the newest entries of some feeds, period by period, until the list is full. Returns the
/// ends of the time that is left, or `None` if the list needs nothing more. The times are in
/// milliseconds, and both ends belong to them.
pub(super) fn check_newest(
    conn: &Connection,
    selection: &mut EntrySelection<'_>,
    feeds: &HashSet<FeedId>,
    (low, high): (i64, i64),
) -> Result<Option<(i64, i64)>, DbError> {
    let reading = selection.reading;
    let is_newest_first = !reading.oldest_first && !reading.by_number && !selection.counts;
    if !is_newest_first || feeds.len() > FEEDS_MAX {
        return Ok(Some((low, high)));
    }
    let sql = "select coalesce(max(published_at), 0) from entries";
    let newest: i64 = conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    let mut high = high.min(newest);
    for period in PERIODS {
        let start = high.saturating_sub(period).max(low);
        check_published(conn, selection, feeds, (start, high))?;
        if selection.is_full() || start <= low {
            return Ok(None);
        }
        high = start - 1;
    }
    Ok(Some((low, high)))
}

/// Checks all entries of some feeds that were published between two times.
pub(super) fn check_published(
    conn: &Connection,
    selection: &mut EntrySelection<'_>,
    feeds: &HashSet<FeedId>,
    (low, high): (i64, i64),
) -> Result<(), DbError> {
    let sql = "select id, feed, published_at from entries \
               where feed = $1 and published_at >= $2 and published_at <= $3";
    let keys: Vec<Value<'_>> = feeds.iter().map(|feed| Value::Int(i64::from(feed.0))).collect();
    let times = [Value::Int(low), Value::Int(high)];
    let candidates = conn.prepare_cached(sql)?.each(&keys, &times, |_, row| candidate(row))?;
    selection.check_all(candidates);
    Ok(())
}

/// Returns the earliest and the latest time of publication, in milliseconds.
pub(super) fn time_ends(reading: &ReadingFilter) -> (i64, i64) {
    // A list by number continues after a number. Later entries of it may be of any time.
    let from = reading.from.filter(|_| !reading.by_number);
    let from = from.map(|place| place.published_at.millis());
    let low = reading.since.map_or(i64::MIN, Time::millis);
    let high = reading.until.map_or(i64::MAX, |until| until.millis().saturating_sub(1));
    match from {
        Some(from) if reading.oldest_first => (low.max(from), high),
        Some(from) => (low, high.min(from)),
        None => (low, high),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use feed::{EntryId, EntryKey, FeedUrl, Item, Outcome, Published};

    use super::*;
    use crate::reading::list::Scope;
    use crate::reading::selection::select;
    use crate::{AccountId, NewEntry, NewFeed, OpenMode, PollRecord, Store};

    const NOW: Time = Time::from_secs(1_700_000_000);
    const N_FEEDS: u8 = 3;
    const N_ENTRIES: u8 = 120;

    /// The time since entry `n` of a feed was published: from minutes to two years. Each eighth one
    /// has the time of the one before.
    fn age(feed: u8, n: u8) -> Duration {
        let n = u64::from(n - u8::from(n.is_multiple_of(8)));
        Duration::from_secs(60 + (n * n * n * 37) + u64::from(feed))
    }

    fn filled(folder: &std::path::Path) -> (Store, Vec<FeedId>) {
        let store = Store::open(crate::testing::location(folder), OpenMode::ReadWrite).unwrap();
        let mut feeds = Vec::new();
        for feed in 0..N_FEEDS {
            let url = FeedUrl::parse(&format!("https://example.org/{feed}")).unwrap();
            let new = NewFeed { url, title: None, site: None, tags: Vec::new() };
            let id = store.add_feed(&new, NOW).unwrap().id;
            let mut record = PollRecord::empty(id, 0, NOW, Outcome::Seen, NOW);
            record.document_mut().entries.new.extend((1..=N_ENTRIES).map(|n| NewEntry {
                key: EntryKey::from_bytes([n; 16]),
                item: Item::default(),
                published: Published { claim: None, at: NOW - age(feed, n) },
                content: 0,
                facts: crate::EntryFacts::default(),
            }));
            store.record_blocking(record).unwrap();
            feeds.push(id);
        }
        (store, feeds)
    }

    fn page(store: &Store, reading: &ReadingFilter) -> (Vec<EntryId>, u64) {
        let found = store.read(|conn| {
            let selection = select(conn, reading, false, None)?;
            Ok((selection.found.iter().map(|one| one.entry).collect(), selection.looked_at))
        });
        found.unwrap()
    }

    #[test]
    fn pages_of_some_feeds_follow_each_other_in_the_order_of_their_times() {
        let folder = tempfile::tempdir().unwrap();
        let (store, feeds) = filled(folder.path());
        let mut expect: Vec<(Time, EntryId)> = Vec::new();
        let all = crate::EntryFilter { feed: None, limit: 1000 };
        for entry in store.entries(EntryId(0), &all).unwrap() {
            if entry.feed != feeds[1] {
                expect.push((entry.published_at, entry.id));
            }
        }
        expect.sort_unstable();
        for oldest_first in [false, true] {
            expect.reverse();
            let of_feeds = Scope::Feeds(vec![feeds[0], feeds[2]]);
            let all = ReadingFilter::newest(AccountId::LOCAL, of_feeds, 17);
            let mut reading = ReadingFilter { oldest_first, ..all };
            let mut found = Vec::new();
            loop {
                let entries = store.reading_places(&reading).unwrap();
                let Some(last) = entries.last() else { break };
                reading.from = Some(*last);
                found.extend(entries.into_iter().map(|place| (place.published_at, place.entry)));
            }
            assert_eq!(found, expect, "oldest first: {oldest_first}");
        }
    }

    #[test]
    fn a_page_of_the_newest_entries_reads_the_last_days_only() {
        let folder = tempfile::tempdir().unwrap();
        let (store, feeds) = filled(folder.path());
        let of_feeds = Scope::Feeds(vec![feeds[0], feeds[2]]);
        let mut reading = ReadingFilter::newest(AccountId::LOCAL, of_feeds, 10);
        // Without this condition, a walk over all feeds would end soon too.
        reading.read = Some(false);
        let (found, looked_at) = page(&store, &reading);
        assert_eq!(found.len(), 10);
        assert!(looked_at < 60, "{looked_at} of {}", 2 * u32::from(N_ENTRIES));
    }
}
