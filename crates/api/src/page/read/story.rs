//! The other entries of a story, folded under the first one of a list, and the list of top stories.

use std::collections::HashMap;
use std::time::Duration;

use feed::{FeedId, Time};
use store::{
    AccountId, FeedName, FoldedEntry, ReadEntry, ReadingFilter, ReadingPosition, Scope, Store,
    StoreError,
};

use super::article::{feed_title, teaser, title};
use super::{LINES, ListScope, ReadingList, store_reading};
use crate::words::{DisplayTime, LocalNow, plural};

/// The age of the entries of top stories.
const TOP_SINCE: Duration = Duration::from_secs(86_400);

/// The entries under the first one of a story.
pub struct FoldedStory {
    /// How many there are, in words.
    pub words: String,
    pub lines: Vec<FoldedLine>,
}

/// An entry under another one.
pub struct FoldedLine {
    pub href: String,
    pub title: String,
    pub feed: String,
    pub published: DisplayTime,
    pub read: bool,
}

/// Returns the entries under the first one, for the page.
pub fn folded(
    row: &FoldedEntry,
    names: &HashMap<FeedId, FeedName>,
    list: &ReadingList,
    now: LocalNow,
) -> Option<FoldedStory> {
    if row.others.is_empty() {
        return None;
    }
    let lines = row.others.iter().map(|other| {
        let entry = &other.entry;
        let body = entry.summary.as_deref().or(entry.content.as_deref()).unwrap_or("");
        FoldedLine {
            href: list.entry_href(entry.id),
            title: title(entry, &teaser(body)),
            feed: feed_title(names.get(&entry.feed)),
            published: DisplayTime::new(entry.published_at, now),
            read: other.read,
        }
    });
    let n_others = row.others.len() as u64;
    let words = format!("{} about this", plural(n_others, "more entry", "more entries"));
    Some(FoldedStory { words, lines: lines.collect() })
}

/// An entry that stands for itself.
pub fn alone(lead: ReadEntry) -> FoldedEntry {
    FoldedEntry { lead, others: Vec::new(), n_feeds: 1 }
}

/// Reads one page of a list, and the position at which the list continues. The matches of a query
/// stand one by one, because they are in another order.
pub fn read_entries(
    store: &Store,
    account: AccountId,
    list: &ReadingList,
    now: Time,
) -> Result<(Vec<FoldedEntry>, Option<ReadingPosition>), StoreError> {
    if list.scope == ListScope::Top {
        let mut reading = ReadingFilter::newest(account, Scope::All, LINES);
        reading.since = Some(now - TOP_SINCE);
        reading.language.clone_from(&list.language);
        return Ok((store.top_stories(&reading)?, None));
    }
    let Some(reading) = store_reading(store, account, list)? else { return Ok((Vec::new(), None)) };
    if matches!(reading.scope, Scope::Query(_)) {
        // One more than is shown, to know whether the list continues.
        let mut found = store.reading(&ReadingFilter { limit: LINES + 1, ..reading })?;
        let more = store::is_full(found.iter().map(|line| &line.entry), LINES + 1);
        found.truncate(LINES as usize);
        let last = found.last().filter(|_| more).map(ReadEntry::place);
        return Ok((found.into_iter().map(alone).collect(), last));
    }
    let page = store.reading_folded(&reading)?;
    let more = page.n_found >= LINES as usize;
    Ok((page.entries, page.last.filter(|_| more)))
}
