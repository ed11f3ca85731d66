//! An entry in the format of the API for one account: the publisher's texts, not sanitised, with
//! the account's marks.

use std::collections::HashMap;

use feed::FeedId;
use store::{ReadEntry, RevisionRow, Store};

use crate::v1::schema::answer;

answer! {
    /// An entry. Its texts are the publisher's own and not sanitised.
    Entry {
        /// Its number: the order of recording.
        id: i64,
        /// The number of its feed.
        feed: u32,
        /// The address of its feed, secrets masked.
        feed_url: String,
        /// The title of its feed.
        feed_title: Option<String>,
        /// Its title.
        title: Option<String>,
        /// Its link.
        link: Option<String>,
        /// Its author.
        author: Option<String>,
        /// Its summary, which may hold HTML.
        summary: Option<String>,
        /// Its content, which may hold HTML; null in lists unless requested.
        content: Option<String>,
        /// Its categories.
        categories: Vec<String>,
        /// The language that it declares itself; null means that of its feed.
        language: Option<String>,
        /// Files that belong to it.
        enclosures: Vec<Enclosure>,
        /// When it was published, with implausible dates corrected.
        published_at: String,
        /// When it was seen first.
        seen_at: String,
        /// The publisher's claim of the last edit.
        updated_at: Option<String>,
        /// When we saw the current text, if the entry was edited.
        edited_at: Option<String>,
        /// Whether you have read it.
        read: bool,
        /// Whether you have starred it.
        starred: bool,
    }

    /// A file that belongs to an entry.
    Enclosure {
        /// Its address.
        url: String,
        /// Its media type.
        r#type: Option<String>,
        /// Its length in bytes, as the publisher says.
        length: Option<u64>,
    }

    /// An older text of an entry.
    Revision {
        /// Its number; the first text has 1.
        number: u32,
        /// When it was seen.
        seen_at: String,
        /// The title then.
        title: Option<String>,
        /// The link then.
        link: Option<String>,
        /// The author then.
        author: Option<String>,
        /// The summary then.
        summary: Option<String>,
        /// The content then.
        content: Option<String>,
    }

    /// An entry with its older texts.
    EntryWithRevisions {
        /// The entry.
        entry: Entry,
        /// Its older texts, the oldest first.
        revisions: Vec<Revision>,
    }
}

/// Addresses and titles of the feeds met so far, read from the store once each.
#[derive(Default)]
pub struct FeedNames(HashMap<FeedId, (String, Option<String>)>);

impl Entry {
    pub fn new(row: &ReadEntry, feeds: &mut FeedNames, store: &Store, content: bool) -> Entry {
        let ReadEntry { entry, read, starred, .. } = row;
        let (url, title) = feeds.0.entry(entry.feed).or_insert_with(|| {
            // The feed was removed after this entry had been read.
            let feed = store.feed(entry.feed).ok();
            feed.map(|feed| (feed.location.url.masked(), feed.shown_title().map(str::to_owned)))
                .unwrap_or_default()
        });
        let enclosures = entry.enclosures.iter().map(|file| Enclosure {
            url: file.url.clone(),
            r#type: file.mime_type.clone(),
            length: file.length,
        });
        Entry {
            id: entry.id.0,
            feed: entry.feed.0,
            feed_url: url.clone(),
            feed_title: title.clone(),
            title: entry.title.clone(),
            link: entry.link.clone(),
            author: entry.author.clone(),
            summary: entry.summary.clone(),
            content: entry.content.clone().filter(|_| content),
            categories: entry.categories.clone(),
            language: entry.language.clone(),
            enclosures: enclosures.collect(),
            published_at: entry.published_at.to_string(),
            seen_at: entry.seen_at.to_string(),
            updated_at: entry.updated_at.map(|at| at.to_string()),
            edited_at: entry.edited_at.map(|at| at.to_string()),
            read: *read,
            starred: *starred,
        }
    }
}

impl From<RevisionRow> for Revision {
    fn from(row: RevisionRow) -> Revision {
        Revision {
            number: row.n,
            seen_at: row.seen_at.to_string(),
            title: row.title,
            link: row.link,
            author: row.author,
            summary: row.summary,
            content: row.content,
        }
    }
}
