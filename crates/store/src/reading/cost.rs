//! Chooses the cheapest way to the entries of a list: a few known numbers, the entries of a few
//! feeds, or a walk over an index.

use std::collections::HashSet;

use feed::{EntryId, FeedId};

use crate::AccountId;
use crate::db::entry_feeds::EntryFeeds;
use crate::db::sql::{Connection, Value};
use crate::error::DbError;
use crate::reading::list::{ReadingFilter, Scope};
use crate::reading::selection::{EntrySelection, FEW, LIMIT_MAX};

/// Feeds with no more entries than this together are read feed by feed.
const GATHERED_MAX: i64 = 20_000;

/// Feeds whose entries are counted at once.
const FEW_FEEDS: usize = 500;

/// Returns the unread entries of the feeds of a list, if they are few. An account that reads few of
/// the feeds has no marks for the entries of the others, so these must not count.
pub(super) fn few_unread(
    conn: &Connection,
    selection: &EntrySelection<'_>,
    cache: Option<&EntryFeeds>,
) -> Result<Option<Vec<EntryId>>, DbError> {
    let (Some(cache), Some(feeds)) = (cache, &selection.feeds) else { return Ok(None) };
    if selection.reading.read != Some(false) {
        return Ok(None);
    }
    let unread = cache.unread_entries(conn, feeds, FEW, |entry| !selection.marks.is_read(entry))?;
    Ok(unread)
}

/// Returns the numbers above a bound if they are few, as for an app that synced an hour ago. A scan
/// by time would not know when it has met them all.
pub(super) fn few_numbers(
    conn: &Connection,
    reading: &ReadingFilter,
) -> Result<Option<std::ops::RangeInclusive<i64>>, DbError> {
    let Some(above) = reading.above else { return Ok(None) };
    let last: i64 = conn
        .prepare_cached("select coalesce(max(id), 0) from entries")?
        .query_row([], |row| row.get(0))?;
    let high = reading.below.map_or(last, |below| last.min(below.0.saturating_sub(1)));
    let few = high.saturating_sub(above.0) <= FEW.cast_signed();
    Ok(few.then_some(above.0.saturating_add(1)..=high))
}

/// Returns whether the first entries of all feeds probably hold a page of these feeds. Then a walk
/// over them reads less than all entries of these feeds.
pub(super) fn is_soon_found(
    conn: &Connection,
    selection: &EntrySelection<'_>,
    n_entries: i64,
) -> Result<bool, DbError> {
    let reading = selection.reading;
    // Each of these may leave out most entries.
    let is_filtered = reading.read.is_some()
        || reading.starred.is_some()
        || reading.above.is_some()
        || reading.below.is_some();
    if is_filtered || selection.counts || n_entries == 0 {
        return Ok(false);
    }
    let sql = "select n from totals where name = 'entries'";
    let n_all: i64 = conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    let wanted =
        i64::from(reading.limit.min(LIMIT_MAX)) + reading.offset.min(u64::from(u32::MAX)) as i64;
    Ok(wanted.saturating_mul(n_all) / n_entries < n_entries)
}

/// Returns the number of stored entries of these feeds; `None` if they are many.
pub(super) fn few_entries(
    conn: &Connection,
    feeds: &HashSet<FeedId>,
) -> Result<Option<i64>, DbError> {
    let mut statement = conn.prepare_cached("select entries from feed_state where feed = $1")?;
    let keys: Vec<Value<'_>> = feeds.iter().map(|feed| Value::Int(i64::from(feed.0))).collect();
    let mut sum = 0;
    // In steps, because a tag may have a hundred thousand feeds.
    for keys in keys.chunks(FEW_FEEDS) {
        let held: Vec<i64> = statement.each(keys, &[], |_, row| row.get(0))?;
        sum += held.iter().sum::<i64>();
        if sum > GATHERED_MAX {
            return Ok(None);
        }
    }
    Ok(Some(sum))
}

/// Returns whether the starred entries are looked up one by one: if they are few, or if those of
/// an account may be of any feed.
pub(super) fn is_by_star(selection: &EntrySelection<'_>) -> bool {
    let reading = selection.reading;
    let is_few = selection.stars.len() as u64 <= FEW;
    let is_any_feed = reading.scope == Scope::All && reading.account != AccountId::LOCAL;
    reading.starred == Some(true) && (is_few || is_any_feed)
}
