//! A document under the names that feedparser uses. Values that we do not keep are unknown.

use std::collections::BTreeMap;

use crate::expect::Value;

pub fn value(doc: &parse::Document, name: &str) -> Value {
    match name {
        "feed" | "channel" => facts(doc),
        "entries" | "items" => Value::List(doc.items.iter().map(item).collect()),
        "version" => Value::Format(doc.format),
        // Neither describes the content of a document.
        _ => Value::Unknown,
    }
}

fn text(text: Option<&str>) -> Value {
    text.map_or(Value::None, |t| Value::Str(t.to_owned()))
}

fn dict(pairs: Vec<(&str, Value)>) -> Value {
    Value::Dict(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<BTreeMap<_, _>>())
}

fn detail(value: Option<&str>) -> Value {
    dict(vec![("value", text(value))])
}

fn facts(doc: &parse::Document) -> Value {
    let minutes = doc.hints.ttl.map(|ttl| (ttl.as_secs() / 60).to_string());
    dict(vec![
        ("title", text(doc.title.as_deref())),
        ("title_detail", detail(doc.title.as_deref())),
        ("link", text(doc.link.as_deref())),
        ("language", text(doc.language.as_deref())),
        ("updated", Value::Date(doc.updated)),
        ("updated_parsed", Value::Date(doc.updated)),
        ("ttl", text(minutes.as_deref())),
        ("category", text(doc.categories.first().map(String::as_str))),
        ("tags", Value::List(doc.categories.iter().map(|name| term(name)).collect())),
    ])
}

fn term(name: &str) -> Value {
    dict(vec![("term", Value::Str(name.to_owned()))])
}

fn item(item: &feed::Item) -> Value {
    let content = item.content.iter().map(|c| detail(Some(c))).collect();
    dict(vec![
        ("id", text(item.id.as_deref())),
        ("guid", text(item.id.as_deref())),
        ("title", text(item.title.as_deref())),
        ("title_detail", detail(item.title.as_deref())),
        ("link", text(item.link.as_deref())),
        ("author", text(item.author.as_deref())),
        ("summary", text(item.summary.as_deref())),
        ("description", text(item.summary.as_deref())),
        ("summary_detail", detail(item.summary.as_deref())),
        ("content", Value::List(content)),
        ("published", Value::Date(item.published)),
        ("published_parsed", Value::Date(item.published)),
        ("updated", Value::Date(item.updated)),
        ("updated_parsed", Value::Date(item.updated)),
        ("category", text(item.categories.first().map(String::as_str))),
        ("tags", Value::List(item.categories.iter().map(|name| term(name)).collect())),
        ("enclosures", Value::List(item.enclosures.iter().map(enclosure).collect())),
    ])
}

fn enclosure(file: &feed::Enclosure) -> Value {
    dict(vec![
        ("href", text(Some(&file.url))),
        ("url", text(Some(&file.url))),
        ("type", text(file.mime_type.as_deref())),
        ("length", text(file.length.map(|n| n.to_string()).as_deref())),
    ])
}
