//! Decides what a start tag opens: an item, a person, a source, a field, or nothing of interest.

use feed::Source;

use super::capture::{Capture, TextMode};
use super::draft::{ItemDraft, PersonDraft, SourceDraft};
use super::vocabulary::{Element, FeedField};
use super::walk::Walk;
use crate::attribute::Attributes;
use crate::namespace::Ns;
use crate::warning::Defect;
use crate::{Format, resolve};

/// A start tag with its meaning.
pub(super) struct StartTag<'a> {
    pub(super) ns: Ns,
    pub(super) local: &'a str,
    pub(super) attrs: Attributes<'a>,
}

impl<'a> Walk<'a> {
    pub(super) fn open(&mut self, tag: &StartTag<'a>, meaning: Element, depth: usize) {
        // Elements of the other family (Atom in RSS) only fill fields that the own family leaves
        // empty.
        let guest = (tag.ns.is_atom() && !self.atom) || (tag.ns.is_rss() && self.atom_strictly());
        let rank = |rank: u8| if guest { rank + 10 } else { rank };
        if let Some(person) = &self.person {
            let field = match tag.local {
                "name" => FeedField::PersonName,
                "email" => FeedField::PersonEmail,
                _ => {
                    self.skip = Some(depth);
                    return;
                }
            };
            if depth == person.depth + 1 {
                self.begin(field, 0, depth, TextMode::Value);
            }
            return;
        }
        if let Some(source) = &self.source {
            let inner = depth == source.depth + 1;
            return self.open_in_source(tag, depth, inner);
        }
        match meaning {
            Element::Container if tag.ns == Ns::Media => {
                if let Some((_, draft)) = &mut self.item {
                    draft.media.open_group(depth);
                }
            }
            Element::Container => {}
            Element::Foreign => self.skip = Some(depth),
            Element::Item if self.items.len() >= self.limits.items_max => {
                self.warnings.note(Defect::TooManyItems, self.at);
                self.close_to(0);
                self.full = true;
            }
            Element::Item => {
                let mut draft = ItemDraft::default();
                if tag.attrs.mention_xml()
                    && let Some(lang) = tag.attrs.get("lang")
                {
                    draft.language(0, &lang);
                }
                if let Some(about) = tag.attrs.text("about") {
                    if resolve::is_web(&about) {
                        draft.link.offer(8, about.clone());
                    }
                    draft.id.offer(2, about);
                }
                self.item = Some((depth, draft));
            }
            Element::Person if self.item.is_none() => self.skip = Some(depth),
            Element::Person => {
                let own = if self.atom { 0 } else { 2 };
                self.person =
                    Some(PersonDraft { depth, rank: rank(own), ..PersonDraft::default() });
            }
            Element::Source if self.item.is_none() => self.skip = Some(depth),
            Element::Source => {
                let url = tag.attrs.text("url").map(|url| self.absolute(&url));
                let source = Source { url, ..Source::default() };
                self.source =
                    Some(SourceDraft { depth, rank: rank(0), source, ..SourceDraft::default() });
            }
            Element::Image if self.item.is_some() => self.skip = Some(depth),
            // It is read as a source that nobody keeps: only its address counts.
            Element::Image => self.source = Some(SourceDraft { depth, ..SourceDraft::default() }),
            Element::FeedField(field, own) => self.open_field(tag, field, rank(own), depth),
        }
    }

    /// Opens an element inside a source. Only the elements that name the other feed are read.
    fn open_in_source(&mut self, tag: &StartTag<'a>, depth: usize, inner: bool) {
        match tag.local {
            "id" if inner => self.begin(FeedField::SourceId, 0, depth, TextMode::Value),
            "updated" if inner => self.begin(FeedField::SourceUpdated, 0, depth, TextMode::Value),
            "title" if inner => {
                let mode = self.prose_mode(tag);
                self.begin(FeedField::SourceTitle, 0, depth, mode);
            }
            "link" if inner => self.source_link(tag),
            "url" if inner && self.item.is_none() => {
                self.begin(FeedField::Icon, 1, depth, TextMode::Value);
            }
            _ => self.skip = Some(depth),
        }
    }

    fn source_link(&mut self, tag: &StartTag<'a>) {
        let Some(href) = tag.attrs.text("href") else { return };
        let href = self.absolute(&href);
        let Some(draft) = &mut self.source else { return };
        let place = match tag.attrs.text("rel").as_deref() {
            None | Some("alternate") => &mut draft.source.site,
            Some("self") => &mut draft.source.url,
            Some(_) => return,
        };
        place.get_or_insert(href);
    }

    fn atom_strictly(&self) -> bool {
        self.atom && (self.scopes.declares(Ns::Atom10) || self.scopes.declares(Ns::Atom03))
    }

    /// Skips the element at `depth` and everything in it.
    pub(super) fn skip_from(&mut self, depth: usize) {
        self.skip = Some(depth);
    }

    pub(super) fn begin(&mut self, field: FeedField, rank: u8, depth: usize, mode: TextMode) {
        let bytes_max = self.limits.field_bytes_max;
        self.capture = Some(Capture::new(field, rank, depth, mode, bytes_max));
    }

    /// Returns how the text of a tag is written.
    pub(super) fn prose_mode(&self, tag: &StartTag<'a>) -> TextMode {
        let atom = tag.ns.is_atom() || (self.atom && tag.ns.is_rss());
        if tag.ns == Ns::Xhtml {
            return TextMode::Markup { shell: false };
        }
        TextMode::of(tag.attrs, atom, atom && self.format != Format::Atom03)
    }
}
