//! An entry as queries see it: borrowed, as recorded, not sanitised.

use feed::{EntryId, FeedId, Time};

/// An entry and the feed it came from.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub id: EntryId,
    pub feed: FeedId,
    /// The subscribed address, in the spelling of `feed::FeedUrl`.
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
    /// The name of a top Media Topic, such as `politics`.
    pub topic: Option<&'a str>,
    /// The plain text of the page behind the entry.
    pub article: Option<&'a str>,
    /// The publisher's claim, repaired.
    pub published: Option<Time>,
    /// The time at which a poll saw the entry. Entries come in the order of recording, and windows
    /// count from this time.
    pub seen: Time,
}

impl<'a> Entry<'a> {
    /// Returns an entry that has only a source and a time.
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
            topic: None,
            article: None,
            published: None,
            seen,
        }
    }
}
