//! What a query sees of an entry: borrowed, as recorded, not sanitised.

use feed::{EntryId, FeedId, Time};

/// An entry and the feed it came from.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub id: EntryId,
    pub feed: FeedId,
    /// As subscribed, in the spelling of `feed::FeedUrl`.
    pub feed_url: &'a str,
    /// The tags of the feed.
    pub tags: &'a [String],
    pub title: Option<&'a str>,
    /// May hold HTML.
    pub summary: Option<&'a str>,
    /// May hold HTML.
    pub content: Option<&'a str>,
    pub author: Option<&'a str>,
    pub categories: &'a [String],
    pub link: Option<&'a str>,
    pub language: Option<&'a str>,
    /// The publisher's claim, repaired.
    pub published: Option<Time>,
    /// When it was seen. Entries are given in the order in which they were recorded, and windows
    /// count from here.
    pub seen: Time,
}

impl<'a> Entry<'a> {
    /// An entry that says nothing but where and when it was seen.
    pub const fn bare(id: EntryId, feed: FeedId, feed_url: &'a str, seen: Time) -> Entry<'a> {
        Entry {
            id,
            feed,
            feed_url,
            tags: &[],
            title: None,
            summary: None,
            content: None,
            author: None,
            categories: &[],
            link: None,
            language: None,
            published: None,
            seen,
        }
    }
}
