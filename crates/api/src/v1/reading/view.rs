//! An entry in the format of the API for one account: the publisher's texts, not sanitised, with
//! the account's marks.

use std::collections::{HashMap, HashSet};

use article::category::{CategoryPlaces, CategorySource, category};
use feed::{FeedId, Source};
use store::{AccountId, EntryRow, ReadEntry, RevisionRow, Store, StoreError};

use crate::media_file::topic_name;
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
        /// The language that holds for it, by the rule of the documentation; null: unknown.
        detected: Option<EntryLanguage>,
        /// Its category and where that comes from; null: none is named.
        category: Option<EntryCategory>,
        /// One of the 17 top Media Topics of the IPTC (CC BY 4.0), such as `politics`.
        topic: Option<&'static str>,
        /// The duration of its recording in seconds, as the publisher says.
        duration: Option<u32>,
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
        /// The feed that it first appeared in, if it came through another feed.
        source: Option<EntrySource>,
        /// Whether you have read it.
        read: bool,
        /// Whether you have starred it.
        starred: bool,
    }

    /// The feed that an entry first appeared in, as the feed that passed it on says.
    EntrySource {
        /// The address of that feed; its id if the address is secret.
        feed: Option<String>,
        /// Its title.
        title: Option<String>,
        /// The names of the instances that passed the entry on, the first one first.
        via: Vec<String>,
    }

    /// A file that belongs to an entry.
    Enclosure {
        /// Its address.
        url: String,
        /// Its media type.
        r#type: Option<String>,
        /// Its length in bytes, as the publisher says.
        length: Option<u64>,
        /// Its duration in seconds, as the publisher says.
        duration: Option<u32>,
    }

    /// The language of an entry.
    EntryLanguage {
        /// A tag such as `de` or `de-AT`.
        tag: String,
        /// `declared`, `detected`, `detected in feed`, `declared by feed` or `default`.
        source: &'static str,
        /// From 0 to 1, if it was detected.
        confidence: Option<f64>,
    }

    /// The category of an entry.
    EntryCategory {
        /// The publisher's word, your tag, or `uncategorized`.
        name: String,
        /// `item`, `section` (of its page), `feed`, `folder` (your first tag of the feed), or
        /// `none`: nobody named one.
        source: &'static str,
    }

    /// The page behind an entry.
    ArticleView {
        /// `there`, `waiting`, `nothing` or `not asked`.
        state: &'static str,
        /// Why there is no article, or the last error of a request that waits.
        reason: Option<String>,
        /// When the page was fetched.
        fetched_at: Option<String>,
        /// Its last address.
        url: Option<String>,
        /// Its title.
        title: Option<String>,
        /// Its author.
        byline: Option<String>,
        /// The address of its main picture.
        image: Option<String>,
        /// Its language.
        language: Option<String>,
        /// Its main text, one line per block.
        text: Option<String>,
        /// The same as HTML, sanitised.
        html: Option<String>,
    }

    /// How far you have listened to a file of an entry.
    PositionView {
        /// The address of the file.
        enclosure: String,
        /// Seconds from the start.
        seconds: f64,
        /// The whole length in seconds.
        duration: Option<f64>,
        /// Whether more than 95 % are over.
        finished: bool,
        /// When it was changed.
        changed_at: String,
    }

    /// The positions in the files of an entry.
    Positions {
        /// One for each file that was played.
        positions: Vec<PositionView>,
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

/// The masked addresses, the titles and the folders of the feeds of some entries.
pub struct FeedNames {
    names: HashMap<FeedId, (String, Option<String>)>,
    /// The first tag of each feed with entries that nobody gave a category.
    folders: HashMap<FeedId, String>,
}

impl FeedNames {
    pub fn of(
        store: &Store,
        account: AccountId,
        rows: &[ReadEntry],
    ) -> Result<FeedNames, StoreError> {
        let names = store.feed_names_of(account, rows.iter().map(|row| row.entry.feed))?;
        let names = names.into_iter().map(|(feed, name)| (feed, (name.url.masked(), name.title)));
        let nameless = rows.iter().filter(|row| row.entry.facts.category.is_none());
        let nameless: HashSet<FeedId> = nameless.map(|row| row.entry.feed).collect();
        let nameless: Vec<FeedId> = nameless.into_iter().collect();
        let feeds = store.feed_rows_of(account, &nameless)?;
        let folders = feeds.into_iter().filter_map(|f| Some((f.id, f.tags.into_iter().next()?)));
        Ok(FeedNames { names: names.collect(), folders: folders.collect() })
    }
}

impl Entry {
    pub fn new(row: &ReadEntry, feeds: &FeedNames, content: bool) -> Entry {
        let ReadEntry { entry, read, starred, .. } = row;
        // A feed that was removed after this entry had been read has no name.
        let (url, title) = feeds.names.get(&entry.feed).cloned().unwrap_or_default();
        let enclosures = entry.enclosures.iter().map(|file| Enclosure {
            url: file.url.clone(),
            r#type: file.mime_type.clone(),
            length: file.length,
            duration: file.duration,
        });
        Entry {
            id: entry.id.0,
            feed: entry.feed.0,
            feed_url: url,
            feed_title: title,
            title: entry.title.clone(),
            link: entry.link.clone(),
            author: entry.author.clone(),
            summary: entry.summary.clone(),
            content: entry.content.clone().filter(|_| content),
            categories: entry.categories.clone(),
            language: entry.language.clone(),
            detected: entry.facts.language.as_ref().map(EntryLanguage::from),
            category: Some(EntryCategory::new(entry, feeds.folders.get(&entry.feed))),
            topic: entry.facts.topic.and_then(topic_name),
            duration: entry.media.duration,
            enclosures: enclosures.collect(),
            published_at: entry.published_at.to_string(),
            seen_at: entry.seen_at.to_string(),
            updated_at: entry.updated_at.map(|at| at.to_string()),
            edited_at: entry.edited_at.map(|at| at.to_string()),
            source: entry.source.as_ref().map(EntrySource::new),
            read: *read,
            starred: *starred,
        }
    }
}

impl From<&store::EntryLanguage> for EntryLanguage {
    fn from(found: &store::EntryLanguage) -> EntryLanguage {
        EntryLanguage {
            tag: found.tag.clone(),
            source: found.source.word(),
            confidence: found.confidence_permille.map(|n| f64::from(n) / 1000.0),
        }
    }
}

impl EntryCategory {
    /// `folder` is what the account calls the feed, if neither publisher nor page named a category.
    fn new(entry: &EntryRow, folder: Option<&String>) -> EntryCategory {
        if let Some(found) = &entry.facts.category {
            return EntryCategory { name: found.name.clone(), source: found.source.word() };
        }
        let folder = folder.map(String::as_str);
        let found = category(&CategoryPlaces { folder, ..CategoryPlaces::default() });
        let source = match found.source {
            CategorySource::Folder => "folder",
            _ => "none",
        };
        EntryCategory { name: found.name, source }
    }
}

impl EntrySource {
    pub fn new(source: &Source) -> EntrySource {
        EntrySource {
            feed: source.name().map(str::to_owned),
            title: source.title.clone(),
            via: source.via.clone(),
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
