//! A parsed document, its format, and the limits on what is read of it. It parses nothing.

use feed::{Hints, Item, Time};

/// One parsed response body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub format: Format,
    pub title: Option<String>,
    pub link: Option<String>,
    pub self_link: Option<String>,
    pub hubs: Vec<String>,
    /// The address of the publisher's rssCloud, with its protocol in brackets.
    pub cloud: Option<String>,
    /// The address of the small picture that stands for the feed.
    pub icon: Option<String>,
    pub language: Option<String>,
    /// The categories of the feed as a whole.
    pub categories: Vec<String>,
    pub updated: Option<Time>,
    pub hints: Hints,
    pub items: Vec<Item>,
    /// The document ends inside an item, and the rest is missing.
    pub is_cut_off: bool,
    /// The markup is broken: cut off, garbled in transit, or written wrongly. The parser kept
    /// everything that it could read.
    pub is_damaged: bool,
    /// The repairs and omissions, one sentence for each kind.
    pub warnings: Vec<String>,
}

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Rss20,
    Rss10,
    Rss09x,
    Atom10,
    Atom03,
    JsonFeed1,
}

impl Format {
    pub const fn word(self) -> &'static str {
        match self {
            Format::Rss20 => "rss-2.0",
            Format::Rss10 => "rss-1.0",
            Format::Rss09x => "rss-0.9x",
            Format::Atom10 => "atom-1.0",
            Format::Atom03 => "atom-0.3",
            Format::JsonFeed1 => "json-feed-1",
        }
    }
}

/// Limits on what is read of a document. The parser leaves out the rest, with a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Real feeds show tens of items; archives in one document a few thousand.
    pub items_max: usize,
    /// Feeds nest about a dozen levels, their inline markup a few more.
    pub depth_max: usize,
    /// A long article with its pictures inline stays below a megabyte.
    pub field_bytes_max: usize,
    /// Categories, enclosures and hubs of one item or document. Spam has thousands of them.
    pub list_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { items_max: 10_000, depth_max: 256, field_bytes_max: 1 << 20, list_max: 500 }
    }
}
