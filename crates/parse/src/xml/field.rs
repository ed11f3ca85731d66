//! Fields: how each begins from its tag and where its value goes, in an item or in the document.

use super::capture::Mode;
use super::draft::{ItemDraft, enclosure};
use super::hint;
use super::open::Tag;
use super::vocabulary::Field;
use super::walk::Walk;
use crate::warning::Trouble;
use crate::{date, resolve};

impl<'a> Walk<'a> {
    pub(super) fn open_field(&mut self, tag: &Tag<'a>, field: Field, rank: u8, depth: usize) {
        match field {
            Field::Link if tag.attrs.get("href").is_some() => return self.link_element(tag, rank),
            // Without an address the text is one, but only of what the item is about.
            Field::Link if tag.attrs.text("rel").is_some_and(|rel| rel != "alternate") => {
                return self.skip_from(depth);
            }
            Field::Content if tag.attrs.text("src").is_some() => self.content_elsewhere(tag),
            Field::Enclosure | Field::MediaFile => return self.file_element(tag, field),
            Field::Topic => return self.topic_element(tag),
            Field::Cloud => return self.cloud_element(tag),
            _ if field.is_prose() => {
                let mode = self.prose_mode(tag);
                self.begin(field, rank, depth, mode);
            }
            _ => self.begin(field, rank, depth, Mode::Value),
        }
        let Some(capture) = &mut self.capture else { return };
        match field {
            Field::Guid => {
                let said = tag.attrs.text("ispermalink");
                capture.permalink = !said.is_some_and(|s| s.eq_ignore_ascii_case("false"));
            }
            Field::Category => {
                // Atom gives a term; RSS 1.0 a resource; media a label beside its text.
                capture.given = tag.attrs.text("term").or_else(|| tag.attrs.text("label"));
            }
            Field::Link => capture.given = tag.attrs.text("resource"),
            _ => {}
        }
    }

    /// A link by attributes, as Atom has it; also in RSS, where it names the feed and its hubs.
    fn link_element(&mut self, tag: &Tag<'a>, rank: u8) {
        let Some(href) = tag.attrs.text("href") else { return };
        let href = self.absolute(&href);
        let rel = tag
            .attrs
            .text("rel")
            .map_or_else(|| "alternate".to_owned(), |r| r.to_ascii_lowercase());
        let rel = rel.rsplit('/').next().unwrap_or("").to_owned();
        let kind = tag.attrs.text("type");
        let page = kind.as_deref().is_none_or(|t| t.contains("html"));
        let limits = self.limits;
        match (&mut self.item, rel.as_str()) {
            (Some((_, draft)), "alternate") => {
                draft.link.offer(rank + u8::from(!page), href);
            }
            (Some((_, draft)), "enclosure") => {
                let length = tag.attrs.text("length");
                draft.enclosure(enclosure(href, kind, length.as_deref()), limits);
            }
            (Some((_, draft)), "via") => draft.via(href),
            (None, "alternate") => {
                self.facts.link.offer(rank + u8::from(!page), href);
            }
            (None, "self") => {
                self.facts.self_link.offer(rank, href);
            }
            (None, "hub") => self.facts.hub(href, limits),
            _ => {}
        }
    }

    fn file_element(&mut self, tag: &Tag<'a>, field: Field) {
        let (attrs, limits) = (tag.attrs, self.limits);
        let url =
            attrs.text("url").or_else(|| attrs.text("href")).or_else(|| attrs.text("resource"));
        let length = attrs.text(if field == Field::Enclosure { "length" } else { "fileSize" });
        let url = url.map(|url| self.absolute(&url));
        if let (Some(url), Some((_, draft))) = (url, &mut self.item) {
            draft.enclosure(enclosure(url, attrs.text("type"), length.as_deref()), limits);
        }
    }

    /// Atom content that lies elsewhere: a page is the item's link, anything else a file.
    fn content_elsewhere(&mut self, tag: &Tag<'a>) {
        let (kind, limits) = (tag.attrs.text("type"), self.limits);
        let Some(url) = tag.attrs.text("src").map(|src| self.absolute(&src)) else { return };
        let Some((_, draft)) = &mut self.item else { return };
        if kind.as_deref().is_some_and(|t| t.contains("html")) {
            draft.link.offer(6, url);
        } else {
            draft.enclosure(enclosure(url, kind, None), limits);
        }
    }

    /// `itunes:category`, which nests.
    fn topic_element(&mut self, tag: &Tag<'a>) {
        let limits = self.limits;
        if let (Some(text), Some((_, draft))) = (tag.attrs.text("text"), &mut self.item) {
            draft.category(text, limits);
        }
    }

    /// `cloud` of RSS 2.0: where one could register for notices. Without a name it says nothing.
    fn cloud_element(&mut self, tag: &Tag<'a>) {
        let said = |name: &str| tag.attrs.text(name).map(|text| text.trim().to_owned());
        let Some(domain) = said("domain").filter(|d| !d.is_empty()) else { return };
        if self.item.is_some() {
            return;
        }
        let port =
            said("port").filter(|p| !p.is_empty()).map_or(String::new(), |p| format!(":{p}"));
        let path = said("path").unwrap_or_default();
        let protocol = said("protocol").filter(|p| !p.is_empty());
        let protocol = protocol.map_or(String::new(), |p| format!(" ({p})"));
        let address = format!("{domain}{port}{path}{protocol}");
        self.warnings.note_about(Trouble::RssCloud, self.at, Some(&address));
        self.facts.cloud.offer(0, address);
    }

    /// Puts a value where it belongs.
    pub(super) fn apply(&mut self, field: Field, rank: u8, permalink: bool, text: String) {
        let resolved = matches!(field, Field::Link | Field::OrigLink).then(|| self.absolute(&text));
        let text = resolved.unwrap_or(text);
        let is_date = matches!(field, Field::Published | Field::Updated | Field::Date);
        let time = if is_date { date::parse(&text) } else { None };
        if is_date && time.is_none() {
            self.warnings.note_about(Trouble::UnknownDate, self.at, Some(&text));
            return;
        }
        match (&mut self.item, time) {
            (Some((_, draft)), Some(time)) => item_date(draft, field, rank, time),
            (Some((_, draft)), None) => match field {
                Field::Category => draft.category(text, self.limits),
                Field::Keywords => draft.keywords(&text, self.limits),
                Field::Author => draft.author(rank, text, self.limits),
                _ => item_text(draft, field, rank, permalink, text),
            },
            (None, Some(time)) => {
                // The document's own date is when it last changed; `pubDate` is second best.
                let rank = if field == Field::Published { rank + 4 } else { rank };
                self.facts.updated.offer(rank, time);
            }
            (None, None) => self.apply_fact(field, rank, text),
        }
    }

    fn apply_fact(&mut self, field: Field, rank: u8, text: String) {
        let facts = &mut self.facts;
        let understood = match field {
            Field::Title => {
                facts.title.offer(rank, text);
                true
            }
            Field::Link => {
                facts.link.offer(rank, text);
                true
            }
            Field::Language => {
                facts.language(rank, &text);
                true
            }
            Field::Ttl => {
                facts.hints.ttl = facts.hints.ttl.or(hint::ttl(&text));
                facts.hints.ttl.is_some()
            }
            Field::SkipHour => add(&mut facts.hints.skip_hours, hint::hour(&text)),
            Field::SkipDay => add(&mut facts.hints.skip_days, hint::day(&text)),
            Field::UpdatePeriod => {
                facts.period.get_or_insert(text);
                return;
            }
            Field::UpdateFrequency => {
                facts.frequency.get_or_insert(text);
                return;
            }
            _ => return,
        };
        if !understood {
            self.warnings.note(Trouble::UnknownHint, self.at);
        }
    }
}

/// Adds what was understood, within the day's hours or the week's days.
fn add(list: &mut Vec<u8>, value: Option<u8>) -> bool {
    if let Some(value) = value
        && !list.contains(&value)
    {
        list.push(value);
    }
    value.is_some()
}

fn item_date(draft: &mut ItemDraft, field: Field, rank: u8, time: feed::Time) {
    match field {
        Field::Updated => {
            draft.updated.offer(rank, time);
        }
        Field::Date => {
            draft.published.offer(rank, time);
            draft.updated.offer(rank, time);
        }
        _ => {
            draft.published.offer(rank, time);
        }
    }
}

fn item_text(draft: &mut ItemDraft, field: Field, rank: u8, permalink: bool, text: String) {
    match field {
        Field::Title => {
            draft.title.offer(rank, text);
        }
        Field::Summary => draft.summary(rank, text),
        Field::Content => {
            draft.content.offer(rank, text);
        }
        Field::Link => {
            draft.link.offer(rank, text);
        }
        // The publisher's page instead of the detour that counts clicks.
        Field::OrigLink => {
            draft.link.offer(0, text);
        }
        Field::Guid => {
            if permalink && resolve::is_web(&text) {
                draft.link.offer(7, text.clone());
            }
            draft.id.offer(rank, text);
        }
        Field::Id => {
            draft.id.offer(rank, text);
        }
        _ => {}
    }
}
