//! Published feeds against the rules of the W3C feed validator and the specifications (RFC 4287,
//! RSS 2.0, JSON Feed 1.1). The entries are as bad as real publishers write them. Rules about
//! elements that we never write (images, clouds, iTunes, geography) do not apply.

use std::collections::HashSet;

use feed::{Enclosure, Item, Time};
use serde_json::Value;
use url::Url;

use crate::fixture::Fixture;
use crate::{Answer, get};

/// Items that break a rule if they are published unchanged.
fn bad_items() -> Vec<Item> {
    let item = |id: Option<&str>, link: Option<&str>, content: &str| Item {
        id: id.map(str::to_owned),
        title: Some("red <b>&amp;</b> \u{8}more".to_owned()),
        link: link.map(str::to_owned),
        content: Some(content.to_owned()),
        summary: Some("<style>p{}</style>a & b".to_owned()),
        author: Some("Ann <ann@example.org>".to_owned()),
        categories: vec!["a \"quoted\" & odd one".to_owned()],
        enclosures: vec![Enclosure {
            url: "https://e.org/a.mp3?x=1&y=2".to_owned(),
            ..Enclosure::default()
        }],
        ..Item::default()
    };
    vec![
        item(Some("not an address"), Some("https://e.org/1"), "<script>alert(1)</script><p>x</p>"),
        item(Some("https://e.org/2"), None, "<a href='/rel'>r</a><img src='x.png' onerror='y'>"),
        item(Some("https://e.org/2"), Some("/relative"), "the id of the one before"),
        item(None, Some("https://e.org/4"), "<p style='x'>unclosed <iframe src='//f'></iframe>"),
        item(None, None, "]]> \u{0} \u{fffe} <p>no id at all</p>"),
        Item { content: None, summary: None, ..item(Some("urn:uuid:4711"), None, "") },
        Item {
            title: None,
            content: None,
            summary: None,
            ..item(Some("https://e.org/7"), None, "")
        },
        Item { summary: None, ..item(Some("https://e.org/8"), Some("https://e.org/a b|c"), "x") },
        Item {
            title: Some("<img src=x onerror=alert(1)>".to_owned()),
            author: Some("&lt;script&gt;alert(1)&lt;/script&gt;".to_owned()),
            categories: vec!["<iframe src=//f>".to_owned(), "\u{85}red\u{fffd}".to_owned()],
            updated: Some(Time::from_secs(9_000_000_000)),
            enclosures: ["a.mp3", "b.mp3"].map(file).into(),
            ..item(Some("https://e.org/9"), Some("javascript:alert(1)"), "<script>x</script>")
        },
        item(Some("https://e.org/{10}"), None, "<p>an id with characters that no URI has</p>"),
    ]
}

fn file(name: &str) -> Enclosure {
    let url = format!("https://e.org/{name}");
    Enclosure { url, mime_type: Some("not a type".to_owned()), ..Enclosure::default() }
}

/// The number of entries in [`bad_items`]; one id appears twice.
const N: usize = 9;

async fn published(end: &str) -> Answer {
    let shelf = Fixture::new(false);
    shelf.query("all", "TITLED \"Red & <more>\" PUBLISH");
    shelf.see_items("https://a.org/feed", bad_items(), 10);
    let answer = get(&shelf.router, &format!("/feeds/all.{end}"), &[("host", "t.test")]).await;
    assert_eq!(answer.status, 200);
    answer
}

/// Returns the texts of an element, still escaped. The writer never nests elements inside one with
/// text.
fn texts<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut found = Vec::new();
    let mut rest = xml;
    while let Some(at) = rest.find(&open) {
        rest = &rest[at + open.len()..];
        let Some(end) = rest.find('>').filter(|_| rest.starts_with(['>', ' '])) else { continue };
        if rest.as_bytes()[end - usize::from(end > 0)] == b'/' {
            continue;
        }
        found.push(&rest[end + 1..rest.find(&close).unwrap()]);
    }
    found
}

/// Returns the values of an attribute of an element.
fn attributes<'a>(xml: &'a str, element: &str, name: &str) -> Vec<&'a str> {
    let (open, value) = (format!("<{element} "), format!("{name}=\""));
    let tags = xml.split(open.as_str()).skip(1).map(|tail| &tail[..tail.find('>').unwrap()]);
    tags.filter_map(|tag| tag.split(value.as_str()).nth(1)?.split('"').next()).collect()
}

#[track_caller]
fn all_absolute<'a>(addresses: impl IntoIterator<Item = &'a str>) {
    for address in addresses {
        assert!(Url::parse(&address.replace("&amp;", "&")).is_ok(), "{address} is not absolute");
    }
}

#[track_caller]
fn all_different(ids: &[&str]) {
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{ids:?}");
}

#[track_caller]
fn harmless(text: &str) {
    let markup = ["<script", "<style", " style=", "<iframe", "onerror"];
    let escaped = markup.map(|part| part.replace('<', "&lt;"));
    for part in markup.into_iter().chain(escaped.iter().map(String::as_str)) {
        assert!(!text.contains(part), "{part:?} in {text}");
    }
    assert!(!text.contains("javascript:"), "{text}");
    for start in ["href='/", "href=\"/", "src='x", "src=\"x", "href=&quot;/", "href=\\\"/"] {
        assert!(!text.contains(start), "a relative address in {text}");
    }
}

/// Checks that no character is invalid in XML.
#[track_caller]
fn sendable(text: &str) {
    let bad = ['\u{0}', '\u{8}', '\u{85}', '\u{fffd}', '\u{fffe}'];
    assert!(!text.contains(bad), "{text}");
}

#[tokio::test]
async fn atom_passes_the_rules_of_the_validator() {
    let answer = published("atom").await;
    let text = &answer.text;
    assert_eq!(answer.header("content-type"), "application/atom+xml; charset=utf-8");
    assert!(text.starts_with("<?xml version=\"1.0\" encoding=\"utf-8\"?>"));
    let (head, entries) = text.split_once("<entry>").unwrap();
    let entries: Vec<&str> = entries.split("<entry>").collect();
    assert_eq!(entries.len(), N, "one id twice is one entry");
    for name in ["id", "title", "updated"] {
        assert_eq!(texts(head, name).len(), 1, "exactly one {name} of the feed");
    }
    assert_eq!(head.matches("rel=\"self\"").count(), 1);
    assert_eq!(head.matches("rel=\"alternate\"").count(), 1);
    for entry in &entries {
        let (own, source) = entry.split_once("<source>").unwrap();
        for (name, part) in [("id", own), ("title", own), ("updated", own), ("content", own)]
            .into_iter()
            .chain([("id", source), ("title", source), ("updated", source)])
        {
            assert_eq!(texts(part, name).len(), 1, "exactly one {name} in {part}");
        }
        assert!(own.matches("rel=\"alternate\"").count() <= 1, "{own}");
        assert!(texts(own, "author").len() <= 1, "the feed itself has one");
    }
    let ids: Vec<&str> = entries.iter().map(|entry| texts(entry, "id")[0]).collect();
    all_different(&ids);
    assert!(ids.iter().all(|id| !id.contains(['{', ' ']) && *id != "urn:uuid:4711"), "{ids:?}");
    assert_eq!(attributes(text, "link", "type"), ["application/atom+xml"], "no type that is none");
    all_absolute(ids.into_iter().chain(attributes(text, "link", "href")));
    for date in texts(text, "updated").into_iter().chain(texts(text, "published")) {
        assert!(date.len() == 20 && date.contains('T') && date.ends_with('Z'), "{date}");
        assert!(date < "2023-11-15", "{date} is in the future");
    }
    harmless(text);
    sendable(text);
}

#[tokio::test]
async fn rss_passes_the_rules_of_the_validator() {
    let answer = published("rss").await;
    let text = &answer.text;
    assert_eq!(answer.header("content-type"), "application/rss+xml; charset=utf-8");
    let (head, items) = text.split_once("<item>").unwrap();
    let items: Vec<&str> = items.split("<item>").collect();
    assert_eq!(items.len(), N);
    for name in ["title", "link", "description", "lastBuildDate"] {
        assert_eq!(texts(head, name).len(), 1, "exactly one {name} of the channel");
    }
    assert_eq!(attributes(head, "atom:link", "rel").iter().filter(|r| **r == "self").count(), 1);
    let guids: Vec<&str> = items.iter().map(|item| texts(item, "guid")[0]).collect();
    all_different(&guids);
    for item in &items {
        let (title, description) = (texts(item, "title"), texts(item, "description"));
        assert!(title.len() <= 1 && description.len() <= 1, "{item}");
        assert!(title.len() + description.len() >= 1, "one of the two is demanded: {item}");
        assert_eq!(texts(item, "guid").len(), 1);
        if let Some(encoded) = item.find("<content:encoded>") {
            assert!(item.find("<description>").is_some_and(|before| before < encoded), "{item}");
        }
        assert!(item.contains("<guid isPermaLink=\"false\">"), "not every id is an address");
        assert!(texts(item, "author").is_empty(), "authors without mail stand in dc:creator");
        assert_eq!(attributes(item, "enclosure", "length"), ["0"]);
        assert_eq!(attributes(item, "enclosure", "type"), ["application/octet-stream"]);
        all_absolute(texts(item, "link"));
        all_absolute(attributes(item, "source", "url"));
    }
    for date in texts(text, "pubDate").into_iter().chain(texts(text, "lastBuildDate")) {
        // RFC 822 with a year of four digits, as RSS requires.
        let words: Vec<&str> = date.split(' ').collect();
        assert_eq!((words.len(), words[3].len(), words[5]), (6, 4, "GMT"), "{date}");
    }
    harmless(text);
    sendable(text);
}

#[tokio::test]
async fn json_holds_to_its_specification() {
    let answer = published("json").await;
    assert_eq!(answer.header("content-type"), "application/feed+json");
    let feed: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(feed["version"], "https://jsonfeed.org/version/1.1");
    assert_eq!(feed["title"], "Red & <more>");
    all_absolute([feed["feed_url"].as_str().unwrap(), feed["home_page_url"].as_str().unwrap()]);
    let items = feed["items"].as_array().unwrap();
    let ids: Vec<&str> = items.iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), N);
    all_different(&ids);
    for item in items {
        assert!(item["content_html"].is_string(), "one of the contents is demanded");
        assert!(item["date_published"].as_str().unwrap().ends_with('Z'));
        all_absolute(item["url"].as_str());
        all_absolute(item["attachments"][0]["url"].as_str());
        assert!(item["attachments"][0]["mime_type"].is_string());
        assert!(item["authors"].is_null() || item["authors"][0]["name"].is_string());
    }
    harmless(&answer.text);
}
