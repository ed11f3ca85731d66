//! One entry in the list of a feed's page: our times beside the publisher's claims.

use store::EntryRow;

use crate::page::read::{published_note, teaser, title};
use crate::sanitise;
use crate::words::{Moment, Now};

pub struct Entry {
    pub id: i64,
    pub title: String,
    pub author: Option<String>,
    pub published: Moment,
    pub published_note: &'static str,
    pub seen: Moment,
    pub teaser: String,
}

impl Entry {
    pub fn new(entry: &EntryRow, now: Now) -> Entry {
        let body = entry.summary.as_deref().or(entry.content.as_deref()).unwrap_or("");
        let teaser = teaser(body);
        Entry {
            id: entry.id.0,
            title: title(entry, &teaser),
            author: entry.author.as_deref().map(sanitise::text).filter(|a| !a.is_empty()),
            published: Moment::new(entry.published_claim.unwrap_or(entry.published_at), now),
            published_note: published_note(entry),
            seen: Moment::new(entry.seen_at, now),
            teaser,
        }
    }
}
