//! Documents to bytes: valid Atom 1.0, RSS 2.0 and JSON Feed 1.1 from the given facts and items.
//!
//! Summaries and contents are HTML, which the caller has sanitised. Titles, authors, categories and
//! names of sources are plain text: no reader may take them for markup. The writers invent nothing,
//! and drop only characters that XML cannot contain. Addresses and ids must be valid; see
//! [`crate::uri`].

mod atom;
mod json;
mod rss;
mod written;

use std::borrow::Cow;

use feed::{Enclosure, Item, Time};

use crate::entity::{escape_attribute, escape_text, looks_like_html};

pub use atom::{atom, written_atom};
pub use json::{json, written_json};
pub use rss::{rss, written_rss};
pub use written::WrittenDocument;

/// A document to publish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishedDocument {
    pub title: String,
    /// The page that the document is about.
    pub link: Option<String>,
    /// The id of the feed in Atom; the address of the document if this is absent.
    pub id: Option<String>,
    /// The address of the document itself.
    pub self_link: Option<String>,
    pub hubs: Vec<String>,
    /// The rssCloud that sends notices. Only RSS can name it.
    pub cloud: Option<CloudService>,
    pub language: Option<String>,
    /// The time of the last change. Atom requires one: without it the newest item's time is
    /// written, or the beginning of 1970.
    pub updated: Option<Time>,
    pub ttl: Option<std::time::Duration>,
    /// The items. An item without an id gets its link as id. An item with neither is left out,
    /// because readers could not distinguish it from others.
    pub items: Vec<Item>,
    /// Labels of the items, in the same order; empty if there are none. Only Atom carries them.
    pub labels: Vec<Vec<ItemLabel>>,
    /// Other pages of the same feed (RFC 5005): relation and address.
    pub pages: Vec<(&'static str, String)>,
}

/// A service that tells subscribers when a feed has changed (rssCloud).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloudService {
    pub domain: String,
    pub port: u16,
    pub path: String,
    pub protocol: &'static str,
}

/// A label of an item in some vocabulary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemLabel {
    pub scheme: &'static str,
    pub term: String,
    pub label: String,
}

impl PublishedDocument {
    fn updated(&self) -> Time {
        let newest = self.items.iter().filter_map(|i| i.updated.max(i.published)).max();
        self.updated.or(newest).unwrap_or_default()
    }

    /// Returns the items that can be published, each with its id.
    fn identified(&self) -> impl Iterator<Item = ItemWithId<'_>> {
        self.items.iter().enumerate().filter_map(|(number, item)| {
            let id = item.id.as_deref().or(item.link.as_deref())?;
            let labels = self.labels.get(number).map_or(&[][..], Vec::as_slice);
            Some(ItemWithId { id, item, labels })
        })
    }
}

/// An item with its id and its labels.
struct ItemWithId<'a> {
    id: &'a str,
    item: &'a Item,
    labels: &'a [ItemLabel],
}

/// Builds XML from texts.
struct Xml {
    out: String,
}

impl Xml {
    fn new() -> Xml {
        Xml { out: String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n") }
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes, ">\n");
    }

    fn close(&mut self, name: &str) {
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push_str(">\n");
    }

    fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes, "/>\n");
    }

    fn text(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.tag(name, attributes, ">");
        escape_text(text, &mut self.out);
        self.close(name);
    }

    fn maybe(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, &[], text);
        }
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &str)], end: &str) {
        self.out.push('<');
        self.out.push_str(name);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            escape_attribute(value, &mut self.out);
            self.out.push('"');
        }
        self.out.push_str(end);
    }
}

/// Returns text for a field that readers display as HTML. Text that looks like markup is escaped,
/// so that readers show it and never run it.
fn for_html(text: &str) -> Cow<'_, str> {
    if !looks_like_html(text) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    escape_text(text, &mut escaped);
    Cow::Owned(escaped)
}

/// The type of a file if its publisher did not name one. RSS and JSON Feed require a type.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// Returns the type of a file, if it is well-formed. Parameters are left out.
fn mime_type(file: &Enclosure) -> Option<&str> {
    let bare = file.mime_type.as_deref()?.split(';').next()?;
    let (kind, of_kind) = bare.trim().split_once('/')?;
    let is_token = |word: &str| {
        let good = |b: u8| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b);
        !word.is_empty() && word.bytes().all(good)
    };
    (is_token(kind) && is_token(of_kind)).then_some(bare.trim())
}

/// Whether an address can be fetched by HTTP. RSS allows no other address for files and sources.
fn is_http(address: &str) -> bool {
    address.starts_with("http://") || address.starts_with("https://")
}
