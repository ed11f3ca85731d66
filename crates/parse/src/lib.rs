//! Bytes to documents, and documents to bytes.
//!
//! [`document`] reads RSS 0.90 to 2.0, RSS 1.0, Atom 0.3 and 1.0 and JSON Feed, even if they are
//! broken. Its warnings say what it repaired. It invents neither identities nor dates and does not
//! sanitise. It expands only the entities of XML and HTML, opens no other resource, reads no clock
//! and does not panic. One bad item never fails a document.

mod attribute;
mod base64;
pub mod date;
pub mod discover;
mod encoding;
mod entity;
mod json;
mod language;
mod namespace;
pub mod opml;
mod refusal;
mod resolve;
mod room;
mod scan;
mod warning;
pub mod write;
mod xml;

use feed::{Hints, Item, Time};
use url::Url;

pub use refusal::{NotAFeed, NotAFeedKind};

use warning::{Defect, Warnings};

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

/// Reads a document. `content_type` is the HTTP header, if there was one. `base` is the address of
/// the document, against which relative links are resolved.
pub fn document(
    bytes: &[u8],
    content_type: Option<&str>,
    base: Option<&Url>,
    limits: &Limits,
) -> Result<Document, NotAFeed> {
    if let Some(refusal) = refusal::binary(bytes).filter(|_| !encoding::is_wide(bytes)) {
        return Err(refusal);
    }
    let decoded = encoding::decode(bytes, content_type);
    let mut warnings = Warnings::default();
    if let Some(warning) = &decoded.warning {
        warnings.note_whole(Defect::Encoding, warning);
    }
    let base = base.and_then(resolve::outermost);
    let base = base.as_deref();
    let text = decoded.text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with(['{', '[']) {
        return json::document(text, base, limits, warnings);
    }
    xml::document(text, base, limits, warnings)
}
