//! Items as the publisher wrote them, and the store's numbers of feeds, entries and queries.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ItemMedia, Time};

/// A feed's number in the store: positive, in the order of recording, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(transparent)]
pub struct FeedId(pub u32);

/// An entry's number in the store: positive, in the order of recording, never reused. The order
/// of ids is the order of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub i64);

/// A query's number in the store: positive, in the order of creation, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryId(pub u32);

impl fmt::Display for FeedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for QueryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One item of a document, as the publisher wrote it. Missing fields are `None`, and texts are not
/// sanitised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Item {
    /// The publisher's own id (`guid`, `id`, `rdf:about`), not ours.
    pub id: Option<String>,
    pub title: Option<String>,
    pub link: Option<String>,
    pub published: Option<Time>,
    pub updated: Option<Time>,
    pub author: Option<String>,
    pub summary: Option<String>,
    pub content: Option<String>,
    pub categories: Vec<String>,
    pub enclosures: Vec<Enclosure>,
    /// The language that the item declares (`xml:lang`, `dc:language`), if it declares one itself.
    #[serde(default)]
    pub language: Option<String>,
    /// The feed that the item claims to come from. Anybody can make this claim.
    pub source: Option<Source>,
    /// The facts about its sound and pictures, beyond its files.
    #[serde(default)]
    pub media: ItemMedia,
}

/// The feed that an item was taken from (`atom:source`, `source` in RSS).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Source {
    /// The feed's own id in Atom.
    pub id: Option<String>,
    /// The address at which the feed is polled.
    pub url: Option<String>,
    pub title: Option<String>,
    /// The page that the feed belongs to.
    pub site: Option<String>,
    pub updated: Option<Time>,
    /// The instances that passed the item on, the first one first.
    pub via: Vec<String>,
}

/// A file attached to an item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Enclosure {
    pub url: String,
    pub mime_type: Option<String>,
    pub length: Option<u64>,
    /// `image`, `audio` or `video`, if the item says so (`media:content`).
    #[serde(default)]
    pub medium: Option<String>,
    /// In seconds.
    #[serde(default)]
    pub duration: Option<u32>,
    #[serde(default)]
    pub width: Option<u32>,
    #[serde(default)]
    pub height: Option<u32>,
    /// Files with the same number are renditions of one thing (`media:group`). The default one
    /// comes first.
    #[serde(default)]
    pub group: Option<u16>,
}

impl Enclosure {
    /// Returns the bytes of its texts.
    pub fn n_bytes(&self) -> usize {
        let texts = [&self.mime_type, &self.medium];
        self.url.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }
}
