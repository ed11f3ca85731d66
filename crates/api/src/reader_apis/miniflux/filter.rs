//! Translates miniflux's filter parameters into a list query of the store.

use feed::{EntryId, FeedId, Time};
use store::{ReadEntry, ReadingFilter, Scope, Store};

use super::{Categories, MinifluxRequest};
use crate::reader_apis::error::ReaderApiError;
use crate::reader_apis::params::AppParams;

/// The default and the highest number of entries with their texts, which are read and sanitised.
pub const LIMIT: (u32, u32) = (100, 1000);

/// Reads the parameters. Returns `None` if no entry can match, as for removed entries.
pub fn reading(
    store: &Store,
    request: &MinifluxRequest,
    scope: Option<Scope>,
    (limit, limit_max): (u32, u32),
) -> Result<Option<ReadingFilter>, ReaderApiError> {
    let params = &request.params;
    let scope = match scope {
        Some(scope) => scope,
        None => asked_scope(store, request)?,
    };
    let mut reading = ReadingFilter::newest(request.person.account, scope, limit);
    // In miniflux 0 means all.
    let wanted = params.number::<u32>("limit")?.unwrap_or(limit);
    reading.limit = if wanted == 0 { limit_max } else { wanted.min(limit_max) };
    reading.offset = params.number::<u64>("offset")?.unwrap_or(0);
    order(params, &mut reading)?;
    if !statuses(params, &mut reading)? {
        return Ok(None);
    }
    reading.starred = match params.text("starred") {
        None => None,
        Some("true" | "1") => Some(true),
        Some("false" | "0") => Some(false),
        Some(_) => return Err(ReaderApiError::bad_request("starred must be true or false")),
    };
    let (after, before) = (time(params, "after")?, time(params, "before")?);
    reading.since = after.max(time(params, "published_after")?).map(next_second);
    reading.until = earlier(before, time(params, "published_before")?);
    reading.above = params.number("after_entry_id")?.map(EntryId);
    reading.below = params.number("before_entry_id")?.map(EntryId);
    // An entry counts as changed when it is first seen.
    if let Some(at) = time(params, "changed_after")? {
        reading.above = reading.above.max(Some(store.last_seen_before(next_second(at))?));
    }
    if let Some(at) = time(params, "changed_before")? {
        let first = EntryId(store.last_seen_before(at)?.0 + 1);
        reading.below = Some(reading.below.map_or(first, |below| below.min(first)));
    }
    Ok(Some(reading))
}

/// Whether the filters accept an entry that a search found.
pub fn fits(reading: &ReadingFilter, one: &ReadEntry) -> bool {
    let entry = &one.entry;
    let in_scope = match &reading.scope {
        Scope::Feed(feed) => entry.feed == *feed,
        Scope::Feeds(feeds) => feeds.contains(&entry.feed),
        _ => true,
    };
    in_scope
        && reading.read.is_none_or(|read| one.read == read)
        && reading.starred.is_none_or(|starred| one.starred == starred)
        && reading.since.is_none_or(|since| entry.published_at >= since)
        && reading.until.is_none_or(|until| entry.published_at < until)
        && reading.above.is_none_or(|above| entry.id > above)
        && reading.below.is_none_or(|below| entry.id < below)
}

fn asked_scope(store: &Store, request: &MinifluxRequest) -> Result<Scope, ReaderApiError> {
    let params = &request.params;
    let feed = params.number::<u32>("feed_id")?.filter(|feed| *feed != 0);
    if let Some(feed) = feed {
        return Ok(Scope::Feed(FeedId(feed)));
    }
    match params.number::<i64>("category_id")?.filter(|category| *category != 0) {
        Some(category) => Ok(Scope::Feeds(
            Categories::read(store, request.person.account)?.feed_ids(store, category)?,
        )),
        None => Ok(Scope::All),
    }
}

fn order(params: &AppParams, reading: &mut ReadingFilter) -> Result<(), ReaderApiError> {
    reading.by_number = match params.text("order") {
        None | Some("published_at" | "status" | "category_title" | "category_id") => false,
        // Numbers follow the order in which entries are seen.
        Some("id" | "created_at" | "changed_at") => true,
        Some(_) => {
            return Err(ReaderApiError::bad_request(
                "order must be id, published_at or created_at",
            ));
        }
    };
    reading.oldest_first = match params.text("direction") {
        None | Some("asc") => true,
        Some("desc") => false,
        Some(_) => return Err(ReaderApiError::bad_request("direction must be asc or desc")),
    };
    Ok(())
}

/// Reads the statuses, and returns whether any entry can match. Several statuses mean any of them.
fn statuses(params: &AppParams, reading: &mut ReadingFilter) -> Result<bool, ReaderApiError> {
    let (mut read, mut unread, mut any) = (false, false, false);
    for status in params.all("status").filter(|status| !status.is_empty()) {
        any = true;
        match status {
            "read" => read = true,
            "unread" => unread = true,
            "removed" => {}
            _ => return Err(ReaderApiError::bad_request("status must be read, unread or removed")),
        }
    }
    if any && read != unread {
        reading.read = Some(read);
    }
    Ok(!any || read || unread)
}

fn time(params: &AppParams, name: &str) -> Result<Option<Time>, ReaderApiError> {
    let secs = params.number::<i64>(name)?.filter(|secs| *secs > 0);
    Ok(secs.map(|secs| Time::from_secs(secs.min(Time::MAX.secs()))))
}

/// `after` excludes entries that were published in that second.
fn next_second(time: Time) -> Time {
    time + std::time::Duration::from_secs(1)
}

fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
