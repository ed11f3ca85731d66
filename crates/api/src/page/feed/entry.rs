//! One entry in the list on a feed's page, with the publisher's date and the time of our fetch.

use store::EntryRow;

use crate::page::read::{published_note, teaser, title};
use crate::sanitise;
use crate::words::{DisplayTime, LocalNow};

/// An entry on the page of its feed.
pub struct FeedPageEntry {
    pub id: i64,
    pub title: String,
    pub author: Option<String>,
    pub published: DisplayTime,
    pub published_note: &'static str,
    pub seen: DisplayTime,
    pub teaser: String,
}

impl FeedPageEntry {
    pub fn new(entry: &EntryRow, now: LocalNow) -> FeedPageEntry {
        let body = entry.summary.as_deref().or(entry.content.as_deref()).unwrap_or("");
        let teaser = teaser(body);
        FeedPageEntry {
            id: entry.id.0,
            title: title(entry, &teaser),
            author: entry.author.as_deref().map(sanitise::text).filter(|a| !a.is_empty()),
            published: DisplayTime::new(entry.published_claim.unwrap_or(entry.published_at), now),
            published_note: published_note(entry),
            seen: DisplayTime::new(entry.seen_at, now),
            teaser,
        }
    }
}
