//! The article that a page describes in JSON-LD (schema.org), alone, in a list or in a `@graph`.

use dom_query::Document;
use serde_json::Value;

use super::name;

/// Scripts that are read. Pages have one to five.
const SCRIPTS_MAX: usize = 20;
/// Bytes of a script. Some hold the whole text of the article.
const SCRIPT_BYTES_MAX: usize = 500_000;
/// Authors that are named. More are a list of contributors.
const AUTHORS_MAX: usize = 20;

/// The end of `@type` of everything that is an article.
const TYPES: [&str; 3] = ["Article", "Posting", "Report"];

#[derive(Default)]
pub struct LinkedArticle {
    pub section: Option<String>,
    pub published: Option<String>,
    pub byline: Option<String>,
    pub image: Option<String>,
}

/// Returns the facts of the first article, or nothing if there is none.
pub fn article(document: &Document) -> LinkedArticle {
    let scripts = document.select("script[type='application/ld+json']");
    for script in scripts.nodes().iter().take(SCRIPTS_MAX) {
        let text = script.text();
        if text.len() > SCRIPT_BYTES_MAX {
            continue;
        }
        let text = text.trim();
        let text = text.strip_prefix("<![CDATA[").unwrap_or(text);
        let text = text.strip_suffix("]]>").unwrap_or(text);
        // The parser refuses values that nest more than 128 deep.
        let Ok(value) = serde_json::from_str::<Value>(text) else { continue };
        if let Some(found) = find(&value) {
            return LinkedArticle {
                section: first_text(found.get("articleSection")),
                published: first_text(found.get("datePublished")),
                byline: byline(found.get("author")),
                image: image(found.get("image")),
            };
        }
    }
    LinkedArticle::default()
}

fn find(value: &Value) -> Option<&Value> {
    match value {
        Value::Array(values) => values.iter().find_map(find),
        Value::Object(_) if is_article(value) => Some(value),
        Value::Object(object) => object.get("@graph").and_then(find),
        _ => None,
    }
}

fn is_article(value: &Value) -> bool {
    let is_type = |word: &str| TYPES.iter().any(|end| word.ends_with(end));
    match value.get("@type") {
        Some(Value::String(word)) => is_type(word),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).any(is_type),
        _ => false,
    }
}

fn first_text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => name(text),
        Value::Array(values) => values.iter().find_map(|value| first_text(Some(value))),
        _ => None,
    }
}

fn byline(value: Option<&Value>) -> Option<String> {
    let names: Vec<String> = match value? {
        Value::Array(authors) => authors.iter().take(AUTHORS_MAX).filter_map(author).collect(),
        one => author(one).into_iter().collect(),
    };
    (!names.is_empty()).then(|| names.join(", "))
}

fn author(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text,
        other => other.get("name")?.as_str()?,
    };
    // Some sites give the address of a profile.
    name(text).filter(|name| !name.starts_with("http"))
}

fn image(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(address) => Some(address.clone()),
        Value::Array(images) => images.iter().find_map(|one| image(Some(one))),
        Value::Object(object) => object.get("url").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    }
}
