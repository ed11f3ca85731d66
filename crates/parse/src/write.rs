//! Documents to bytes: valid Atom 1.0, RSS 2.0 and JSON Feed 1.1 from the facts and items given.
//! Invents nothing the caller did not give, and repairs nothing but what XML cannot carry.

mod atom;
mod json;
mod rss;

use feed::{Item, Time};

use crate::entity::{escape_attribute, escape_text};

pub use atom::atom;
pub use json::json;
pub use rss::rss;

/// A document to publish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    pub title: String,
    /// The page that the document is about.
    pub link: Option<String>,
    /// What Atom knows the feed by; without it the address of the document.
    pub id: Option<String>,
    /// Where the document itself is found.
    pub self_link: Option<String>,
    pub hubs: Vec<String>,
    pub language: Option<String>,
    /// When anything in it last changed. Atom demands it; without it the newest item's time
    /// stands there, and the beginning of 1970 where there is none.
    pub updated: Option<Time>,
    pub ttl: Option<std::time::Duration>,
    /// Items with an id; one without is given its link for an id, and left out if it has neither,
    /// since readers could not tell it from others.
    pub items: Vec<Item>,
    /// Where the items came from, in their order; empty where they are the document's own.
    pub origins: Vec<Origin>,
    /// Marks of the items, in their order; empty where there are none. Only Atom carries them.
    pub labels: Vec<Vec<Label>>,
    /// Other pages of the same feed (RFC 5005): relation and address.
    pub pages: Vec<(&'static str, String)>,
}

/// The feed that an item was taken from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub title: String,
    pub url: String,
    /// When it last said something.
    pub updated: Option<Time>,
}

/// A mark of an item in some vocabulary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    pub scheme: &'static str,
    pub term: String,
    pub label: String,
}

impl Published {
    fn updated(&self) -> Time {
        let newest = self.items.iter().filter_map(|i| i.updated.max(i.published)).max();
        self.updated.or(newest).unwrap_or_default()
    }

    /// The items that can be published, each with its id and where it came from.
    fn identified(&self) -> impl Iterator<Item = Identified<'_>> {
        self.items.iter().enumerate().filter_map(|(number, item)| {
            let id = item.id.as_deref().or(item.link.as_deref())?;
            let labels = self.labels.get(number).map_or(&[][..], Vec::as_slice);
            Some(Identified { id, item, origin: self.origins.get(number), labels })
        })
    }
}

/// An item with its id, where it came from and how it is marked.
struct Identified<'a> {
    id: &'a str,
    item: &'a Item,
    origin: Option<&'a Origin>,
    labels: &'a [Label],
}

/// Builds XML text by text.
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
        escape_text(&sendable(text), &mut self.out);
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
            escape_attribute(&sendable(value), &mut self.out);
            self.out.push('"');
        }
        self.out.push_str(end);
    }
}

/// Text without the characters that XML 1.0 cannot carry at all.
fn sendable(text: &str) -> String {
    text.chars()
        .filter(|c| matches!(c, '\t' | '\n' | '\r' | ' '..))
        .filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}'))
        .collect()
}

/// The type of a file whose publisher did not say it: RSS demands one.
const UNKNOWN_TYPE: &str = "application/octet-stream";
