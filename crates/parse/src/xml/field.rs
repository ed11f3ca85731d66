//! Fields: how each begins from its tag, and where its value goes in an item or in the document.

use super::capture::TextMode;
use super::draft::{ItemDraft, enclosure};
use super::hint;
use super::open::StartTag;
use super::vocabulary::FeedField;
use super::walk::Walk;
use crate::warning::Defect;
use crate::{date, resolve};

impl<'a> Walk<'a> {
    pub(super) fn open_field(
        &mut self,
        tag: &StartTag<'a>,
        field: FeedField,
        rank: u8,
        depth: usize,
    ) {
        match field {
            FeedField::Link if tag.attrs.get("href").is_some() => {
                return self.link_element(tag, rank);
            }
            // Without an address attribute the text is the address, but only for the link to the
            // item itself.
            FeedField::Link if tag.attrs.text("rel").is_some_and(|rel| rel != "alternate") => {
                return self.skip_from(depth);
            }
            FeedField::Content if tag.attrs.text("src").is_some() => self.content_elsewhere(tag),
            FeedField::Enclosure | FeedField::MediaFile => {
                return self.file_element(tag, field, depth);
            }
            FeedField::Thumbnail
            | FeedField::Player
            | FeedField::Cover
            | FeedField::ChapterFile
            | FeedField::Chapter
            | FeedField::Transcript => return self.media_element(tag, field),
            FeedField::Topic => return self.topic_element(tag),
            FeedField::Cloud => return self.cloud_element(tag),
            _ if field.is_prose() => {
                let mode = self.prose_mode(tag);
                self.begin(field, rank, depth, mode);
            }
            _ => self.begin(field, rank, depth, TextMode::Value),
        }
        let lang = if tag.attrs.mention_xml() { tag.attrs.get("lang") } else { None };
        if let (Some(lang), Some((_, draft))) = (lang, &mut self.item) {
            match field {
                FeedField::Content => draft.language(2, &lang),
                FeedField::Summary => draft.language(3, &lang),
                FeedField::Title => draft.language(4, &lang),
                _ => {}
            }
        }
        let Some(capture) = &mut self.capture else { return };
        match field {
            FeedField::Guid => {
                let said = tag.attrs.text("ispermalink");
                capture.permalink = !said.is_some_and(|s| s.eq_ignore_ascii_case("false"));
            }
            FeedField::Category => {
                // Atom has a term, RSS 1.0 a resource, and media a label next to its text.
                capture.given = tag.attrs.text("term").or_else(|| tag.attrs.text("label"));
            }
            FeedField::Link => capture.given = tag.attrs.text("resource"),
            _ => {}
        }
    }

    /// Reads a link with attributes, as in Atom. In RSS such a link names the feed and its hubs.
    fn link_element(&mut self, tag: &StartTag<'a>, rank: u8) {
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

    fn file_element(&mut self, tag: &StartTag<'a>, field: FeedField, depth: usize) {
        let (attrs, limits) = (tag.attrs, self.limits);
        let url =
            attrs.text("url").or_else(|| attrs.text("href")).or_else(|| attrs.text("resource"));
        let length = attrs.text(if field == FeedField::Enclosure { "length" } else { "fileSize" });
        let url = url.map(|url| self.absolute(&url));
        if let (Some(url), Some((_, draft))) = (url, &mut self.item) {
            let mut file = enclosure(url, attrs.text("type"), length.as_deref());
            if field == FeedField::MediaFile {
                draft.media.describe(&mut file, attrs, depth);
            }
            let is_default = attrs.text("isDefault").is_some_and(|said| said == "true");
            draft.file(file, is_default, limits);
        }
    }

    /// Reads an element that names a picture, a player, chapters or a transcript of the item.
    fn media_element(&mut self, tag: &StartTag<'a>, field: FeedField) {
        let attrs = tag.attrs;
        let address = |name: &str| attrs.text(name).map(|url| self.absolute(&url));
        let url = address("url").or_else(|| address("href"));
        let image = address("image");
        if let Some((_, draft)) = &mut self.item {
            draft.media.element(field, url, image, attrs, self.limits);
        } else if let (FeedField::Cover, Some(url)) = (field, url) {
            // Covers are large pictures: any other one is a better icon.
            self.facts.icon.offer(4, url);
        }
    }

    /// Handles Atom content at another address: a page becomes the item's link, anything else a
    /// file.
    fn content_elsewhere(&mut self, tag: &StartTag<'a>) {
        let (kind, limits) = (tag.attrs.text("type"), self.limits);
        let Some(url) = tag.attrs.text("src").map(|src| self.absolute(&src)) else { return };
        let Some((_, draft)) = &mut self.item else { return };
        if kind.as_deref().is_some_and(|t| t.contains("html")) {
            draft.link.offer(6, url);
        } else {
            draft.enclosure(enclosure(url, kind, None), limits);
        }
    }

    /// Reads `itunes:category`, which can be nested.
    fn topic_element(&mut self, tag: &StartTag<'a>) {
        let limits = self.limits;
        match (tag.attrs.text("text"), &mut self.item) {
            (Some(text), Some((_, draft))) => draft.category(text, limits),
            (Some(text), None) => self.facts.category(text, limits),
            (None, _) => {}
        }
    }

    /// Reads `cloud` of RSS 2.0, the address at which one can register for notices. Without a host
    /// name it is ignored.
    fn cloud_element(&mut self, tag: &StartTag<'a>) {
        let said = |name: &str| tag.attrs.text(name).map(|text| text.trim().to_owned());
        let Some(domain) = said("domain").filter(|d| !d.is_empty()) else { return };
        if self.item.is_some() {
            return;
        }
        let port =
            said("port").filter(|p| !p.is_empty()).map_or(String::new(), |p| format!(":{p}"));
        let path = said("path").unwrap_or_default();
        let protocol = said("protocol").filter(|p| !p.is_empty());
        let is_post = protocol.as_ref().is_some_and(|protocol| {
            ["http-post", "https-post"].iter().any(|post| protocol.eq_ignore_ascii_case(post))
        });
        let protocol = protocol.map_or(String::new(), |p| format!(" ({p})"));
        let address = format!("{domain}{port}{path}{protocol}");
        if !is_post {
            self.warnings.note_about(Defect::RssCloud, self.at, Some(&address));
        }
        self.facts.cloud.offer(0, address);
    }

    /// Stores a value in its field.
    pub(super) fn apply(&mut self, field: FeedField, rank: u8, permalink: bool, text: String) {
        let resolved = matches!(field, FeedField::Link | FeedField::OrigLink | FeedField::Icon)
            .then(|| self.absolute(&text));
        let text = resolved.unwrap_or(text);
        let is_date = matches!(field, FeedField::Published | FeedField::Updated | FeedField::Date);
        let time = if is_date { date::parse(&text) } else { None };
        if is_date && time.is_none() {
            self.warnings.note_about(Defect::UnknownDate, self.at, Some(&text));
            return;
        }
        match (&mut self.item, time) {
            (Some((_, draft)), Some(time)) => item_date(draft, field, rank, time),
            (Some((_, draft)), None) => match field {
                FeedField::Category => draft.category(text, self.limits),
                FeedField::Keywords => draft.keywords(&text, self.limits),
                FeedField::Author => draft.author(rank, text, self.limits),
                FeedField::Language => draft.language(1, &text),
                _ => item_text(draft, field, rank, permalink, text),
            },
            (None, Some(time)) => {
                // The document's own date is the time of its last change; `pubDate` is the second
                // choice.
                let rank = if field == FeedField::Published { rank + 4 } else { rank };
                self.facts.updated.offer(rank, time);
            }
            (None, None) => self.apply_fact(field, rank, text),
        }
    }

    fn apply_fact(&mut self, field: FeedField, rank: u8, text: String) {
        let facts = &mut self.facts;
        let understood = match field {
            FeedField::Title => {
                facts.title.offer(rank, text);
                true
            }
            FeedField::Link => {
                facts.link.offer(rank, text);
                true
            }
            FeedField::Icon => {
                facts.icon.offer(rank, text);
                true
            }
            FeedField::Language => {
                facts.language(rank, &text);
                true
            }
            FeedField::Ttl => {
                facts.hints.ttl = facts.hints.ttl.or(hint::ttl(&text));
                facts.hints.ttl.is_some()
            }
            FeedField::SkipHour => add(&mut facts.hints.skip_hours, hint::hour(&text)),
            FeedField::SkipDay => add(&mut facts.hints.skip_days, hint::day(&text)),
            FeedField::UpdateBase => {
                facts.hints.update_base = facts.hints.update_base.or(date::parse(&text));
                facts.hints.update_base.is_some()
            }
            FeedField::Category => {
                facts.category(text, self.limits);
                true
            }
            FeedField::Keywords => {
                facts.keywords(&text, self.limits);
                true
            }
            FeedField::UpdatePeriod => {
                facts.period.get_or_insert(text);
                return;
            }
            FeedField::UpdateFrequency => {
                facts.frequency.get_or_insert(text);
                return;
            }
            _ => return,
        };
        if !understood {
            self.warnings.note(Defect::UnknownHint, self.at);
        }
    }
}

/// Adds a value, if it is valid and not in the list yet. Returns whether it was valid.
fn add(list: &mut Vec<u8>, value: Option<u8>) -> bool {
    if let Some(value) = value
        && !list.contains(&value)
    {
        list.push(value);
    }
    value.is_some()
}

fn item_date(draft: &mut ItemDraft, field: FeedField, rank: u8, time: feed::Time) {
    match field {
        FeedField::Updated => {
            draft.updated.offer(rank, time);
        }
        FeedField::Date => {
            draft.published.offer(rank, time);
            draft.updated.offer(rank, time);
        }
        _ => {
            draft.published.offer(rank, time);
        }
    }
}

fn item_text(draft: &mut ItemDraft, field: FeedField, rank: u8, permalink: bool, text: String) {
    match field {
        FeedField::Title => {
            draft.title.offer(rank, text);
        }
        FeedField::Summary => draft.summary(rank, text),
        FeedField::Content => {
            draft.content.offer(rank, text);
        }
        FeedField::Link => {
            draft.link.offer(rank, text);
        }
        // The publisher's page, instead of the redirect that counts clicks.
        FeedField::OrigLink => {
            draft.link.offer(0, text);
        }
        FeedField::Guid => {
            if permalink && resolve::is_web(&text) {
                draft.link.offer(7, text.clone());
            }
            draft.id.offer(rank, text);
        }
        FeedField::Id => {
            draft.id.offer(rank, text);
        }
        FeedField::Duration | FeedField::Season | FeedField::Episode | FeedField::Explicit => {
            draft.media.value(field, &text);
        }
        _ => {}
    }
}
