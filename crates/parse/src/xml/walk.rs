//! The walk over the tags of a document. It keeps the stack of open elements, supplies missing end
//! tags, and passes texts to their fields. Each token is examined once.

use url::Url;

use super::Root;
use super::capture::{Capture, Inline, is_void};
use super::draft::{FactsDraft, ItemDraft, PersonDraft, SourceDraft};
use super::open::StartTag;
use super::vocabulary::{Element, FeedField, element, never_inside_text};
use crate::attribute::{Attributes, value};
use crate::namespace::{Ns, Scopes, lower};
use crate::room::{GrowthBudget, shorten};
use crate::scan::{MarkupToken, Scanner};
use crate::warning::{Defect, Warnings};
use crate::{Document, Format, Limits, resolve};

pub(super) struct Walk<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
    /// Names of the open elements, as written.
    stack: Vec<&'a str>,
    n_too_deep: usize,
    pub(super) scopes: Scopes<'a>,
    outer_base: Option<&'a Url>,
    bases: Vec<(usize, Url)>,
    /// The depth of the element whose content is skipped.
    pub(super) skip: Option<usize>,
    pub(super) capture: Option<Capture>,
    pub(super) person: Option<PersonDraft>,
    pub(super) source: Option<SourceDraft>,
    pub(super) item: Option<(usize, ItemDraft)>,
    pub(super) items: Vec<feed::Item>,
    room: GrowthBudget,
    pub(super) facts: FactsDraft,
    pub(super) format: Format,
    pub(super) atom: bool,
    pub(super) limits: &'a Limits,
    pub(super) warnings: Warnings,
    pub(super) at: usize,
    pub(super) full: bool,
    /// Whether the text ended inside an item.
    is_cut_off: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        text: &'a str,
        root: &Root,
        base: Option<&'a Url>,
        limits: &'a Limits,
        warnings: Warnings,
    ) -> Walk<'a> {
        let mut walk = Walk {
            text,
            scanner: Scanner::new(text, root.at),
            stack: Vec::with_capacity(16),
            n_too_deep: 0,
            scopes: Scopes::default(),
            outer_base: base,
            bases: Vec::new(),
            skip: None,
            capture: None,
            person: None,
            source: None,
            item: None,
            items: Vec::new(),
            room: GrowthBudget::new(text.len(), limits),
            facts: FactsDraft::default(),
            format: root.format,
            atom: root.atom,
            limits,
            warnings,
            at: root.at,
            full: false,
            is_cut_off: false,
        };
        walk.open_root(root.ns);
        walk
    }

    /// Opens the root: an `entry` as root is an item, any other root is only a container.
    fn open_root(&mut self, ns: Ns) {
        let Some(MarkupToken::Start { name, attrs, empty }) = self.scanner.next(&mut self.warnings)
        else {
            return;
        };
        let attrs = Attributes::new(attrs);
        self.enter(attrs);
        self.scopes.adopt_default(ns);
        self.stack.push(name);
        if lower(name.rsplit(':').next().unwrap_or(name)) == "entry" {
            self.item = Some((0, ItemDraft::default()));
        }
        if empty {
            self.close_to(0);
        }
    }

    pub(super) fn run(&mut self) {
        while let Some(token) = self.scanner.next(&mut self.warnings) {
            self.at = self.scanner.token_start();
            match token {
                MarkupToken::Text(raw) => self.characters(raw, false),
                MarkupToken::Cdata(raw) => self.characters(raw, true),
                MarkupToken::Start { name, attrs, empty } => {
                    self.start(name, Attributes::new(attrs), empty);
                }
                MarkupToken::End { name } => self.end(name),
            }
            if self.full {
                return;
            }
        }
        self.at = self.text.len();
        if !self.stack.is_empty() {
            self.warnings.note(Defect::CutOff, self.at);
            self.is_cut_off = self.item.is_some();
            // An item that ends before its id would come back under another key.
            if self.item.as_ref().is_some_and(|(_, draft)| !draft.has_id()) {
                self.capture = None;
                self.person = None;
                self.source = None;
                self.item = None;
            }
            self.close_to(0);
        }
    }

    fn characters(&mut self, raw: &'a str, is_cdata: bool) {
        if let Some(capture) = &mut self.capture {
            if is_cdata {
                capture.cdata(raw, self.at, &mut self.warnings);
            } else {
                capture.text(raw, self.at, &mut self.warnings);
            }
            return;
        }
        let person = self.person.as_mut().map(|person| &mut person.text);
        let own = person.or(self.source.as_mut().map(|source| &mut source.text));
        if let Some(own) = own
            && self.skip.is_none()
            && own.len() + raw.len() <= self.limits.field_bytes_max
        {
            let text = if is_cdata { raw.into() } else { value(raw) };
            own.push_str(&text);
        }
    }

    fn start(&mut self, name: &'a str, attrs: Attributes<'a>, empty: bool) {
        if self.stack.len() >= self.limits.depth_max {
            self.leave_unclosed_item(name);
        }
        if self.stack.len() >= self.limits.depth_max {
            self.warnings.note(Defect::TooDeep, self.at);
            self.n_too_deep += usize::from(!empty);
            return;
        }
        self.enter(attrs);
        let (ns, local) = self.scopes.resolve(name);
        let tag = StartTag { ns, local, attrs };
        let lowered = lower(local);
        if empty && self.item.is_some() && element(ns, &lowered) == Element::Item {
            // `<item/>` inside an item has no content and ends nothing.
            self.scopes.leave(self.stack.len());
            self.warnings.note(Defect::StrayEnd, self.at);
            return;
        }
        self.supply_ends(&tag, &lowered);
        let depth = self.stack.len();
        self.stack.push(name);
        if self.skip.is_some() {
        } else if let Some(capture) = &mut self.capture {
            let level = depth - capture.depth;
            let base = current_base(&self.bases, self.outer_base);
            let room = &self.room;
            let inline = Inline { ns, name, local, attrs, empty, base, room };
            capture.start(&inline, level, self.at, &mut self.warnings);
        } else {
            self.open(&tag, element(ns, &lowered), depth);
        }
        if empty || self.is_void(name) {
            self.close_to(depth);
        }
    }

    /// Whether this is an HTML tag inside a text that has no end tag, and so no content.
    fn is_void(&self, name: &str) -> bool {
        is_void(name) && self.capture.as_ref().is_some_and(|capture| capture.field.is_prose())
    }

    /// Unclosed markup may be nested too deep. A new item is outside it.
    fn leave_unclosed_item(&mut self, name: &'a str) {
        let (ns, local) = self.scopes.resolve(name);
        if let Some((depth, _)) = self.item
            && element(ns, &lower(local)) == Element::Item
        {
            self.warnings.note(Defect::MissingEnd, self.at);
            self.n_too_deep = 0;
            self.close_to(depth);
        }
    }

    /// Takes namespaces, base and language from an element's attributes.
    fn enter(&mut self, attrs: Attributes<'a>) {
        if !attrs.mention_xml() {
            return;
        }
        let depth = self.stack.len();
        self.scopes.enter(depth, attrs);
        for (name, raw) in attrs.iter() {
            let outer = current_base(&self.bases, self.outer_base);
            match name {
                // XML allows each attribute once, so a second one is ignored.
                "xml:base" if self.bases.last().is_none_or(|(d, _)| *d < depth) => {
                    if let Some(base) = resolve::base(&value(raw), outer) {
                        self.bases.push((depth, base));
                    }
                }
                "xml:lang" if depth == 0 => self.facts.language(2, value(raw).trim()),
                _ => {}
            }
        }
    }

    /// Supplies missing end tags, when an item begins inside another or a field inside a text.
    fn supply_ends(&mut self, tag: &StartTag<'a>, lowered: &str) {
        let is_item = element(tag.ns, lowered) == Element::Item;
        if let Some(capture) = &self.capture
            && (is_item || self.stack.len() == capture.depth + 1)
            && never_inside_text(tag.ns, lowered)
            && !(capture.field.is_prose() && self.is_inline_name(tag, lowered))
        {
            let depth = capture.depth;
            self.warnings.note(Defect::MissingEnd, self.at);
            self.close_to(depth);
        }
        if !is_item {
            return;
        }
        if let Some((depth, _)) = &self.item {
            let depth = *depth;
            // Inside a foreign element, an `entry` belongs to that vocabulary.
            if self.skip.is_none() {
                self.warnings.note(Defect::MissingEnd, self.at);
                self.close_to(depth);
            }
        } else if let Some(depth) = self.skip
            && self.scopes.resolve(self.stack[depth]).0.is_rss()
        {
            self.warnings.note(Defect::MissingEnd, self.at);
            self.close_to(depth);
        }
    }

    /// Whether `title` or `link` has the shape of HTML and is part of a text, not a field.
    fn is_inline_name(&self, tag: &StartTag<'a>, lowered: &str) -> bool {
        let field = self.capture.as_ref().map(|c| c.field);
        match lowered {
            "title" => field != Some(FeedField::Title) && self.atom,
            "link" => tag.attrs.get("rel").is_some_and(|rel| rel.contains("stylesheet")),
            _ => false,
        }
    }

    fn end(&mut self, name: &str) {
        let found =
            self.stack.iter().rposition(|open| *open == name || open.eq_ignore_ascii_case(name));
        if self.n_too_deep > 0 {
            // It ends an element that was nested too deep, unless it ends the element around all of
            // them.
            let item = self.item.as_ref().map(|(depth, _)| *depth);
            let outer = self.capture.as_ref().map(|c| c.depth).or(self.skip).or(item);
            if found.is_none() || found > outer {
                self.n_too_deep -= 1;
                return;
            }
            self.n_too_deep = 0;
        }
        let Some(depth) = found else {
            if !self.is_void(name) {
                self.warnings.note(Defect::StrayEnd, self.at);
            }
            return;
        };
        if depth + 1 < self.stack.len() && self.capture.as_ref().is_none_or(|c| c.depth > depth) {
            self.warnings.note(Defect::MissingEnd, self.at);
        }
        self.close_to(depth);
    }

    /// Closes every open element down to `depth`, including that one.
    pub(super) fn close_to(&mut self, depth: usize) {
        while self.stack.len() > depth {
            let top = self.stack.len() - 1;
            let Some(name) = self.stack.pop() else { return };
            self.close(top, name);
        }
    }

    fn close(&mut self, depth: usize, name: &'a str) {
        if self.skip == Some(depth) {
            self.skip = None;
        }
        if let Some(capture) = &mut self.capture {
            if capture.depth == depth {
                self.finish_capture();
            } else if self.skip.is_none() {
                capture.end(name, depth - capture.depth, self.at, &mut self.warnings);
            }
        }
        if self.person.as_ref().is_some_and(|p| p.depth == depth)
            && let Some(person) = self.person.take()
        {
            let rank = person.rank;
            if let (Some(name), Some((_, draft))) = (person.finish(), &mut self.item) {
                draft.author(rank, name, self.limits);
            }
        }
        if self.source.as_ref().is_some_and(|s| s.depth == depth)
            && let Some(source) = self.source.take()
        {
            let rank = source.rank;
            if let (Some(source), Some((_, draft))) = (source.finish(), &mut self.item) {
                draft.source.offer(rank, source);
            }
        }
        if self.item.as_ref().is_some_and(|(d, _)| *d == depth)
            && let Some((_, draft)) = self.item.take()
        {
            let (items, warnings) = (&mut self.items, &mut self.warnings);
            self.full |= !self.room.keep(draft.finish(), items, self.at, warnings);
        }
        self.scopes.leave(depth);
        while self.bases.last().is_some_and(|(d, _)| *d >= depth) {
            self.bases.pop();
        }
    }

    fn finish_capture(&mut self) {
        let Some(capture) = self.capture.take() else { return };
        let (field, rank, permalink) = (capture.field, capture.rank, capture.permalink);
        let base = current_base(&self.bases, self.outer_base);
        let Some(text) = capture.finish(base, &self.room, self.at, &mut self.warnings) else {
            return;
        };
        match (field, &mut self.person, &mut self.source) {
            (FeedField::PersonName, Some(person), _) => {
                person.name.get_or_insert(text);
            }
            (FeedField::PersonEmail, Some(person), _) => {
                person.email.get_or_insert(text);
            }
            (FeedField::SourceId, _, Some(draft)) => {
                draft.source.id.get_or_insert(text);
            }
            (FeedField::SourceTitle, _, Some(draft)) => {
                draft.source.title.get_or_insert(text);
            }
            (FeedField::SourceUpdated, _, Some(draft)) => {
                draft.source.updated = draft.source.updated.or(crate::date::parse(&text));
            }
            _ => self.apply(field, rank, permalink, text),
        }
    }

    /// Returns a link, resolved against the current base.
    pub(super) fn absolute(&self, link: &str) -> String {
        resolve::link(link, current_base(&self.bases, self.outer_base), &self.room)
    }

    pub(super) fn into_document(mut self) -> Document {
        let hints = self.facts.hints();
        let name = |mut text: String| {
            shorten(&mut text);
            text
        };
        Document {
            format: self.format,
            title: self.facts.title.into_value().map(name),
            link: self.facts.link.into_value(),
            self_link: self.facts.self_link.into_value(),
            hubs: self.facts.hubs,
            cloud: self.facts.cloud.into_value(),
            icon: self.facts.icon.into_value(),
            language: self.facts.language.into_value().map(name),
            categories: self.facts.categories,
            updated: self.facts.updated.into_value(),
            hints,
            items: self.items,
            is_cut_off: self.is_cut_off,
            is_damaged: self.warnings.tell_damage(),
            warnings: self.warnings.sentences(self.text),
        }
    }
}

fn current_base<'b>(bases: &'b [(usize, Url)], outer: Option<&'b Url>) -> Option<&'b Url> {
    bases.last().map(|(_, base)| base).or(outer)
}
