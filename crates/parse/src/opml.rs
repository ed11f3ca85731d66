//! Subscription lists (OPML). Reading accepts broken lists; a written list reads back as the same
//! list.
//!
//! Nested folders a/b become one tag `a/b`, and `category` attributes are tags too. Each outline
//! that is left out is reported with its line and the reason. Addresses are returned as written.

mod write;

use std::collections::HashMap;

use crate::attribute::Attributes;
use crate::encoding::decode;
use crate::namespace::lower;
use crate::scan::{MarkupToken, Scanner};
use crate::warning::Warnings;

pub use write::{write, write_in_order};

/// One feed of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The feed's address, as written.
    pub url: String,
    pub title: Option<String>,
    /// The site that the feed belongs to.
    pub site: Option<String>,
    /// Folders as paths, and categories, each once.
    pub tags: Vec<String>,
}

/// A list as read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opml {
    pub title: Option<String>,
    pub outlines: Vec<Outline>,
    pub skipped: Vec<Skipped>,
}

/// An outline that was left out, or that was read with doubts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub line: usize,
    pub column: usize,
    pub what: String,
    pub why: &'static str,
}

/// The bytes are not a subscription list; the text says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an OPML list: {0}; export one from your reader and import that file")]
pub struct NotOpml(String);

/// Longer folder paths are cut. Nobody writes them, and every feed below repeats them.
const TAG_BYTES_MAX: usize = 300;
/// Nobody can use more tags of one feed.
const TAGS_MAX: usize = 100;
/// A list of more than a million feeds is an attack or a mistake.
const OUTLINES_MAX: usize = 1_000_000;
/// Enough to see what is wrong; the rest is of the same kind.
const SKIPPED_MAX: usize = 1000;

/// Reads a list. A feed that is in several folders becomes one outline with several tags.
pub fn read(bytes: &[u8]) -> Result<Opml, NotOpml> {
    let decoded = decode(bytes, None);
    let text = decoded.text.as_ref();
    let mut reader = OpmlReader::new(text);
    let mut scanner = Scanner::new(text, 0);
    let mut warnings = Warnings::default();
    while let Some(token) = scanner.next(&mut warnings) {
        reader.at = scanner.token_start();
        match token {
            MarkupToken::Start { name, attrs, empty } => {
                reader.start(name, Attributes::new(attrs), empty);
            }
            MarkupToken::End { name } => reader.end(name),
            MarkupToken::Text(raw) | MarkupToken::Cdata(raw) => reader.text(raw),
        }
    }
    reader.finish()
}

struct OpmlReader<'a> {
    text: &'a str,
    at: usize,
    lines: LinePosition<'a>,
    is_opml: bool,
    first: Option<&'a str>,
    in_title: bool,
    /// For every open outline, the folder path of its children.
    open: Vec<String>,
    known: HashMap<String, usize>,
    opml: Opml,
}

impl<'a> OpmlReader<'a> {
    fn new(text: &'a str) -> OpmlReader<'a> {
        OpmlReader {
            text,
            at: 0,
            lines: LinePosition { text, at: 0, line: 1, line_start: 0 },
            is_opml: false,
            first: None,
            in_title: false,
            open: Vec::new(),
            known: HashMap::new(),
            opml: Opml::default(),
        }
    }

    fn start(&mut self, name: &'a str, attrs: Attributes<'a>, empty: bool) {
        self.first.get_or_insert(name);
        match lower(name).as_ref() {
            "opml" => self.is_opml = true,
            "title" => self.in_title = !empty && self.opml.title.is_none(),
            "outline" => {
                self.is_opml = true;
                if !empty && attrs.get("xmlurl").is_none() && self.torn_outline(attrs) {
                    return;
                }
                let name = self.outline(attrs, empty);
                if !empty {
                    let outer = self.open.last().map_or("", String::as_str);
                    self.open.push(tidy_path(&format!("{outer}/{}", name.unwrap_or_default())));
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match lower(name).as_ref() {
            "title" => self.in_title = false,
            "outline" if self.open.pop().is_none() => {
                self.skip("</outline>", "it is an end tag without a start");
            }
            _ => {}
        }
    }

    fn text(&mut self, raw: &str) {
        if self.in_title {
            let title = crate::attribute::value(raw).trim().to_owned();
            if !title.is_empty() && self.opml.title.is_none() {
                self.opml.title = Some(title);
            }
        }
    }

    /// Reads an outline whose tag seems to end early, because an attribute contains raw HTML with
    /// quotes and angle brackets. Its address then follows as text. Returns whether it was one.
    fn torn_outline(&mut self, attrs: Attributes<'a>) -> bool {
        let rest = &self.text[self.at + 1..];
        let ends = |at: &usize| {
            let rest = &rest[*at..];
            ["<outline", "</outline", "</body"].iter().any(|tag| rest.starts_with(tag))
        };
        let end = rest.match_indices('<').map(|(at, _)| at).find(ends);
        let torn = rest[..end.unwrap_or(rest.len())].trim_end();
        let address = torn.split_once("xmlUrl=\"").and_then(|(_, after)| after.split_once('"'));
        match address {
            Some((url, _)) if torn.ends_with("/>") && !url.trim().is_empty() => {
                let url = crate::attribute::value(url.trim()).into_owned();
                self.feed(url, attrs.text("title").or_else(|| attrs.text("text")), attrs);
                true
            }
            _ => false,
        }
    }

    /// Reads an outline. Returns the name if it is a folder.
    fn outline(&mut self, attrs: Attributes<'a>, empty: bool) -> Option<String> {
        let name = attrs.text("title").or_else(|| attrs.text("text"));
        let url = attrs.text("xmlurl").or_else(|| {
            // Some exporters write `url` for feeds. For others it is a link or an inclusion.
            let kind = attrs.text("type").unwrap_or_default().to_ascii_lowercase();
            let feed = matches!(kind.as_str(), "rss" | "atom" | "feed" | "rss1");
            if feed { attrs.text("url") } else { None }
        });
        let Some(url) = url else {
            if !empty {
                return name;
            }
            let what = name.unwrap_or_else(|| "<outline>".to_owned());
            let why = match attrs.text("type").as_deref() {
                Some("link" | "include") => "it is a link to another list, which is not followed",
                _ => "it has no xmlUrl",
            };
            self.skip(&what, why);
            return None;
        };
        // An outline must have a text, so software repeats the address if there is no title.
        let title = name.filter(|name| *name != url);
        self.feed(url, title, attrs);
        None
    }

    fn feed(&mut self, url: String, title: Option<String>, attrs: Attributes<'a>) {
        if self.opml.outlines.len() >= OUTLINES_MAX {
            self.skip(&url, "the list is longer than a million feeds");
            return;
        }
        let mut tags = Vec::new();
        push_tag(&mut tags, self.open.last().map_or("", String::as_str));
        // In OPML 2.0 categories are separated by commas. Each is a path with a leading slash, or a
        // plain tag.
        for tag in attrs.text("category").unwrap_or_default().split(',') {
            push_tag(&mut tags, &tidy_path(tag));
        }
        match self.known.get(&url) {
            Some(index) => {
                let known = &mut self.opml.outlines[*index];
                let before = known.tags.len();
                tags.iter().for_each(|tag| push_tag(&mut known.tags, tag));
                if known.tags.len() == before {
                    self.skip(&url, "it is in the list twice");
                }
            }
            None => {
                self.known.insert(url.clone(), self.opml.outlines.len());
                let site = attrs.text("htmlurl");
                self.opml.outlines.push(Outline { url, title, site, tags });
            }
        }
    }

    fn skip(&mut self, what: &str, why: &'static str) {
        if self.opml.skipped.len() < SKIPPED_MAX {
            let (line, column) = self.lines.place(self.at);
            let what = what.chars().take(200).collect();
            self.opml.skipped.push(Skipped { line, column, what, why });
        }
    }

    fn finish(mut self) -> Result<Opml, NotOpml> {
        if !self.is_opml {
            return Err(NotOpml(match self.first {
                Some(root) => {
                    format!("its first element is <{}>", root.chars().take(40).collect::<String>())
                }
                None if self.text.trim().is_empty() => "it is empty".to_owned(),
                None => "it has no element".to_owned(),
            }));
        }
        if !self.open.is_empty() {
            self.at = self.text.len();
            let n = self.open.len();
            self.skip(&format!("{n} </outline>"), "the file ends without them; they were supplied");
        }
        Ok(self.opml)
    }
}

/// Returns a path or a folder name without empty parts. A slash in a name counts as nesting.
fn tidy_path(name: &str) -> String {
    let steps = name.split('/').map(str::trim).filter(|step| !step.is_empty());
    let path = steps.collect::<Vec<_>>().join("/");
    let cut = &path[..path.floor_char_boundary(TAG_BYTES_MAX)];
    cut.trim_end_matches(|c: char| c == '/' || c.is_whitespace()).to_owned()
}

fn push_tag(tags: &mut Vec<String>, tag: &str) {
    let known = tags.len() >= TAGS_MAX || tags.iter().any(|known| known == tag);
    if !tag.is_empty() && !known {
        tags.push(tag.to_owned());
    }
}

/// Finds lines and columns. Offsets come in order, so it continues from the last one.
struct LinePosition<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    line_start: usize,
}

impl LinePosition<'_> {
    /// Returns line and column, both from 1. Columns count characters.
    fn place(&mut self, offset: usize) -> (usize, usize) {
        for (i, _) in self.text[self.at..offset].match_indices('\n') {
            self.line += 1;
            self.line_start = self.at + i + 1;
        }
        self.at = offset;
        (self.line, self.text[self.line_start..offset].chars().count() + 1)
    }
}
