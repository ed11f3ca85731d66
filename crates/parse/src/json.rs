//! Reads JSON Feed 1.0 and 1.1. A value of the wrong type is left out; the document is not refused.

use feed::{Enclosure, Hints, Item, ItemMedia, Source};
use serde_json::{Map, Value};
use url::Url;

use crate::language::language_tag;
use crate::refusal::{NotAFeed, NotAFeedKind};
use crate::room::{GrowthBudget, shorten};
use crate::warning::{Defect, Warnings};
use crate::xml::named;
use crate::{Document, Format, Limits, date, resolve};

/// Every JSON Feed has a version address that contains this.
const VERSION: &str = "jsonfeed.org/version/";

pub(crate) fn document(
    text: &str,
    base: Option<&Url>,
    limits: &Limits,
    mut warnings: Warnings,
) -> Result<Document, NotAFeed> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let kind =
            if text.contains(VERSION) { NotAFeedKind::BrokenJsonFeed } else { NotAFeedKind::Json };
        NotAFeed::new(kind, format!("a JSON document that is broken: {error}"))
    })?;
    let Value::Object(root) = &value else { return Err(not_json_feed()) };
    let version = root.get("version").and_then(Value::as_str).unwrap_or("");
    let Some(Value::Array(listed)) = root.get("items") else { return Err(not_json_feed()) };
    if !version.contains(VERSION) {
        return Err(not_json_feed());
    }
    let reader = JsonReader { base, limits, room: &GrowthBudget::new(text.len(), limits) };
    let mut items = Vec::with_capacity(listed.len().min(limits.items_max));
    for value in listed {
        if items.len() >= limits.items_max {
            warnings.note(Defect::TooManyItems, 0);
            break;
        }
        let Value::Object(object) = value else {
            warnings.note(Defect::BadItem, 0);
            continue;
        };
        let item = reader.item(object, &mut warnings);
        if !reader.room.keep(item, &mut items, 0, &mut warnings) {
            break;
        }
    }
    Ok(Document {
        format: Format::JsonFeed1,
        title: reader.name(root, "title", &mut warnings),
        link: reader.link(root, "home_page_url", &mut warnings),
        self_link: reader.link(root, "feed_url", &mut warnings),
        hubs: reader.hubs(root),
        cloud: None,
        // `favicon` is the small one of the two.
        icon: reader
            .link(root, "favicon", &mut warnings)
            .or_else(|| reader.link(root, "icon", &mut warnings)),
        language: reader.name(root, "language", &mut warnings),
        // JSON Feed has no categories of the feed itself.
        categories: Vec::new(),
        updated: None,
        hints: Hints::default(),
        items,
        is_cut_off: false,
        is_damaged: warnings.tell_damage(),
        warnings: warnings.sentences(text),
    })
}

fn not_json_feed() -> NotAFeed {
    NotAFeed::new(NotAFeedKind::Json, "a JSON document but not a JSON Feed")
}

struct JsonReader<'a> {
    base: Option<&'a Url>,
    limits: &'a Limits,
    room: &'a GrowthBudget,
}

type Object = Map<String, Value>;

impl JsonReader<'_> {
    fn item(&self, object: &Object, warnings: &mut Warnings) -> Item {
        let dated = |name: &str, warnings: &mut Warnings| {
            let text = object.get(name)?.as_str()?;
            let time = date::parse(text);
            if time.is_none() {
                warnings.note_about(Defect::UnknownDate, 0, Some(text));
            }
            time
        };
        let id = match object.get("id") {
            // Some documents of version 1.0 write numbers here.
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => self.text(object, "id", warnings),
        };
        Item {
            id,
            title: self.text(object, "title", warnings),
            link: self
                .link(object, "url", warnings)
                .or_else(|| self.link(object, "external_url", warnings)),
            published: dated("date_published", warnings),
            updated: dated("date_modified", warnings),
            author: self.author(object),
            summary: self.text(object, "summary", warnings),
            content: self
                .text(object, "content_html", warnings)
                .map(|html| resolve::markup(html, self.base, self.room))
                .or_else(|| self.text(object, "content_text", warnings)),
            categories: self.tags(object),
            enclosures: self.attachments(object),
            media: ItemMedia {
                image: self
                    .link(object, "image", warnings)
                    .or_else(|| self.link(object, "banner_image", warnings)),
                ..ItemMedia::default()
            },
            language: object.get("language").and_then(Value::as_str).and_then(language_tag),
            source: self.source(object, warnings),
        }
    }

    /// Reads `_source`, our own extension: JSON Feed has no field for it.
    fn source(&self, object: &Object, warnings: &mut Warnings) -> Option<Source> {
        let said = object.get("_source")?.as_object()?;
        let via = said.get("via").and_then(Value::as_array).into_iter().flatten();
        named(Source {
            id: self.text(said, "id", warnings),
            url: self.link(said, "url", warnings),
            title: self.text(said, "title", warnings),
            site: self.link(said, "home_page_url", warnings),
            updated: said.get("updated").and_then(Value::as_str).and_then(date::parse),
            via: via.filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }

    /// Returns a text that is not empty, cut at the limit.
    fn text(&self, object: &Object, name: &str, warnings: &mut Warnings) -> Option<String> {
        let text = object.get(name)?.as_str()?.trim();
        if text.len() > self.limits.field_bytes_max {
            warnings.note(Defect::FieldTooLong, 0);
            return Some(text[..text.floor_char_boundary(self.limits.field_bytes_max)].to_owned());
        }
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns a short text, such as the feed's title. Texts of items are cut together with the
    /// item.
    fn name(&self, object: &Object, name: &str, warnings: &mut Warnings) -> Option<String> {
        let mut text = self.text(object, name, warnings)?;
        if shorten(&mut text) {
            warnings.note(Defect::FieldTooLong, 0);
        }
        Some(text)
    }

    fn link(&self, object: &Object, name: &str, warnings: &mut Warnings) -> Option<String> {
        self.text(object, name, warnings).map(|text| self.absolute(&text))
    }

    fn absolute(&self, link: &str) -> String {
        resolve::link(link, self.base, self.room)
    }

    fn list<'v>(&self, object: &'v Object, name: &str) -> impl Iterator<Item = &'v Value> {
        let list = object.get(name).and_then(Value::as_array);
        list.into_iter().flatten().take(self.limits.list_max)
    }

    fn hubs(&self, root: &Object) -> Vec<String> {
        let urls = self.list(root, "hubs").filter_map(|hub| hub.get("url")?.as_str());
        urls.map(|url| self.absolute(url)).collect()
    }

    /// Version 1.1 has a list of authors, version 1.0 has one author.
    fn author(&self, object: &Object) -> Option<String> {
        let one = object.get("author").into_iter();
        let names: Vec<&str> = self
            .list(object, "authors")
            .chain(one)
            .filter_map(|author| author.get("name")?.as_str())
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .collect();
        let mut unique: Vec<&str> = Vec::new();
        for name in names {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        (!unique.is_empty()).then(|| unique.join(", "))
    }

    fn tags(&self, object: &Object) -> Vec<String> {
        let mut tags: Vec<String> = Vec::new();
        for tag in self.list(object, "tags").filter_map(Value::as_str).map(str::trim) {
            if !tag.is_empty() && !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
            }
        }
        tags
    }

    fn attachments(&self, object: &Object) -> Vec<Enclosure> {
        self.list(object, "attachments")
            .filter_map(|attachment| {
                let url = attachment.get("url")?.as_str()?;
                Some(Enclosure {
                    url: self.absolute(url),
                    mime_type: attachment
                        .get("mime_type")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                    length: attachment.get("size_in_bytes").and_then(Value::as_u64),
                    // Numbers outside of the range become its ends.
                    duration: attachment
                        .get("duration_in_seconds")
                        .and_then(Value::as_f64)
                        .map(|seconds| seconds as u32),
                    ..Enclosure::default()
                })
            })
            .collect()
    }
}
