//! Writes JSON Feed 1.1.

use std::ops::Range;

use feed::{Enclosure, Item, Source};
use serde_json::{Map, Value, json as value};

use super::{PublishedDocument, UNKNOWN_TYPE, WrittenDocument, mime_type};

/// Returns the document as JSON Feed 1.1.
pub fn json(doc: &PublishedDocument) -> String {
    written_json(doc).text
}

/// As [`json`], with the places of the items.
pub fn written_json(doc: &PublishedDocument) -> WrittenDocument {
    let mut root = Map::new();
    let mut put = |name: &str, text: Option<&str>| {
        if let Some(text) = text {
            root.insert(name.to_owned(), text.into());
        }
    };
    put("version", Some("https://jsonfeed.org/version/1.1"));
    put("title", Some(&doc.title));
    put("home_page_url", doc.link.as_deref());
    put("feed_url", doc.self_link.as_deref());
    put("language", doc.language.as_deref());
    let next = doc.pages.iter().find(|(rel, _)| *rel == "next");
    put("next_url", next.map(|(_, href)| href.as_str()));
    if !doc.hubs.is_empty() {
        let hubs = doc.hubs.iter().map(|url| value!({"type": "WebSub", "url": url})).collect();
        root.insert("hubs".to_owned(), Value::Array(hubs));
    }
    // The items come last, so that their places are known.
    let mut text = Value::Object(root).to_string();
    text.pop();
    text.push_str(",\"items\":[");
    let mut items: Vec<Range<usize>> = Vec::new();
    for one in doc.identified() {
        if !items.is_empty() {
            text.push(',');
        }
        let start = text.len();
        text.push_str(&object(one.id, one.item).to_string());
        items.push(start..text.len());
    }
    text.push_str("]}");
    WrittenDocument { text, items, separator: "," }
}

fn object(id: &str, item: &Item) -> Value {
    let mut object = Map::new();
    let mut put = |name: &str, text: Option<&str>| {
        if let Some(text) = text {
            object.insert(name.to_owned(), text.into());
        }
    };
    put("id", Some(id));
    put("url", item.link.as_deref());
    put("title", item.title.as_deref());
    put("summary", item.summary.as_deref());
    // One of the contents is required; an empty text means that there is none.
    put("content_html", Some(item.content.as_deref().unwrap_or("")));
    put("language", item.language.as_deref());
    put("date_published", item.published.map(|t| t.to_string()).as_deref());
    put("date_modified", item.updated.map(|t| t.to_string()).as_deref());
    if let Some(author) = &item.author {
        object.insert("authors".to_owned(), value!([{"name": author}]));
    }
    if !item.categories.is_empty() {
        object.insert("tags".to_owned(), value!(item.categories));
    }
    if let Some(given) = &item.source {
        // JSON Feed has no field for it. Names of extensions begin with an underscore.
        object.insert("_source".to_owned(), source(given));
    }
    if !item.enclosures.is_empty() {
        let files = item.enclosures.iter().map(attachment).collect();
        object.insert("attachments".to_owned(), Value::Array(files));
    }
    Value::Object(object)
}

fn attachment(file: &Enclosure) -> Value {
    let mime_type = mime_type(file).unwrap_or(UNKNOWN_TYPE);
    match file.length {
        Some(n) => value!({"url": file.url, "mime_type": mime_type, "size_in_bytes": n}),
        None => value!({"url": file.url, "mime_type": mime_type}),
    }
}

fn source(source: &Source) -> Value {
    let mut object = Map::new();
    let updated = source.updated.map(|time| time.to_string());
    for (name, text) in [
        ("id", &source.id),
        ("url", &source.url),
        ("title", &source.title),
        ("home_page_url", &source.site),
        ("updated", &updated),
    ] {
        object.extend(text.as_ref().map(|text| (name.to_owned(), text.as_str().into())));
    }
    if !source.via.is_empty() {
        object.insert("via".to_owned(), value!(source.via));
    }
    Value::Object(object)
}
