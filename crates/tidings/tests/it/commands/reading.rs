//! Commands that read and explain: parse, discover, doctor, show, why.

use serde_json::Value;

use crate::documents::rss;
use crate::program::{Instance, path_text};
use crate::publisher::Publisher;
use crate::wire::Response;

const DOCUMENT: &str = r#"<?xml version="1.0"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>T</title><link>/home</link><language>en</language><ttl>60</ttl>
<atom:link rel="self" href="http://example.org/feed"/>
<atom:link rel="hub" href="http://hub.example/"/>
<skipHours><hour>3</hour></skipHours><skipDays><day>Sunday</day></skipDays>
<item><title>One &amp; only</title><link>a/b</link><guid>g1</guid>
<pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate><category>c</category>
<enclosure url="http://example.org/x.mp3" length="12" type="audio/mpeg"/></item>
<item><description>bare</description></item>
</channel></rss>"#;

#[test]
fn a_document_is_shown_as_the_contract_spells_it() {
    let instance = Instance::new();
    let file = instance.write("feed.xml", DOCUMENT);
    let args = ["parse", path_text(&file), "--url", "http://example.org/feed", "--json"];
    let parsed = instance.run(&args).ok().json();
    let top = [
        "format",
        "title",
        "link",
        "self",
        "hubs",
        "language",
        "updated",
        "ttl_seconds",
        "skip_hours",
        "skip_days",
        "update_seconds",
        "items",
        "warnings",
    ];
    for name in top {
        assert!(parsed.get(name).is_some(), "`{name}` is missing: {parsed}");
    }
    assert_eq!(parsed["format"], "rss-2.0");
    assert_eq!(parsed["link"], "http://example.org/home");
    assert_eq!(parsed["self"], "http://example.org/feed");
    assert_eq!(parsed["hubs"], serde_json::json!(["http://hub.example/"]));
    assert_eq!((&parsed["ttl_seconds"], &parsed["update_seconds"]), (&3600.into(), &Value::Null));
    assert_eq!(parsed["skip_hours"], serde_json::json!([3]));
    let item = &parsed["items"][0];
    assert_eq!((&item["id"], &item["title"]), (&"g1".into(), &"One & only".into()));
    assert_eq!(item["link"], "http://example.org/a/b");
    assert_eq!(item["published"], "2003-06-10T04:00:00Z");
    let enclosure = serde_json::json!(
        [{"url": "http://example.org/x.mp3", "type": "audio/mpeg", "length": 12}]);
    assert_eq!(item["enclosures"], enclosure);
    let bare = &parsed["items"][1];
    for name in ["id", "title", "link", "published", "updated", "author", "content"] {
        assert!(bare.get(name).is_some_and(Value::is_null), "{name} is null: {bare}");
    }
    assert_eq!(bare["summary"], "bare");
}

#[test]
fn what_is_no_feed_is_called_by_its_name() {
    let instance = Instance::new();
    for (name, content, part) in [
        ("page.html", "<!doctype html><html><body>x</body></html>", "html"),
        ("empty.xml", "", "empty"),
        ("list.opml", "<opml version=\"2.0\"><body/></opml>", "opml"),
        ("some.json", "{\"a\": 1}", "json"),
        ("note.txt", "just some words", "feed"),
    ] {
        let file = instance.write(name, content);
        let ended = instance.run(&["parse", path_text(&file), "--json"]);
        ended.says(1, &[part]);
        assert_eq!(ended.stderr.matches("not a feed").count(), 1, "{}", ended.stderr);
        assert_eq!(ended.stdout, "", "{name}: nothing but a document goes to standard output");
    }
    instance.run(&["parse", "missing.xml"]).says(2, &["missing.xml"]);
}

#[test]
fn a_page_leads_to_its_feeds() {
    let publisher = Publisher::start(1);
    let head = r#"<html><head>
        <link rel="alternate" type="application/rss+xml" title="Main" href="/rss.xml">
        <link rel="alternate" type="application/atom+xml" href="/other.xml">
        <link rel="stylesheet" href="/style.css"></head><body></body></html>"#;
    let html = Response::new(200).with("Content-Type", "text/html").body(head);
    publisher.set_answer("/", html);
    publisher.set("/rss.xml", rss("main", 2));
    publisher.set("/other.xml", rss("other", 1));
    let instance = Instance::new();
    let args = ["discover", &publisher.url("/"), "--allow-private", "--json"];
    let found = instance.run(&args).ok().json().to_string();
    for path in ["/rss.xml", "/other.xml"] {
        assert!(found.contains(&publisher.url(path)), "{path}: {found}");
    }
    assert!(!found.contains("style.css"), "{found}");
    publisher.set_answer("/none", Response::new(200).with("Content-Type", "text/html").body("<p>"));
    let none = instance.run(&["discover", &publisher.url("/none"), "--allow-private"]);
    none.says(1, &["/none"]);
}

#[test]
fn why_says_when_by_which_rule_and_what_happened() {
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let url = publisher.url("/f");
    let instance = Instance::new();
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    let before = instance.run(&["feed", "why", &url]).ok().stdout;
    assert!(before.to_lowercase().contains("never"), "not polled yet: {before}");
    instance.poll(&url);
    instance.run(&["feed", "set", &url, "--policy", "fix:7h"]).ok();
    instance.poll(&url);
    let why = instance.run(&["feed", "why", &url]).ok().stdout;
    assert!(why.contains("fix"), "the rule: {why}");
    assert!(why.contains("7 h") || why.contains("7h"), "its figure: {why}");
    let row = |words: &[&str]| why.lines().any(|l| words.iter().all(|w| l.contains(w)));
    assert!(row(&["seen (200)", " 3 ", "first poll"]), "the first poll: {why}");
    assert!(row(&["unchanged (304)", "asked for"]), "the poll that was asked for: {why}");
    let shown = instance.run(&["feed", "show", &url, "--json"]).ok().json();
    assert_eq!(shown["url"], url.as_str());
    let json = instance.run(&["feed", "why", &url, "--json"]).ok().json();
    assert!(json.is_object(), "{json}");
}

#[test]
fn the_list_is_as_the_contract_spells_it() {
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let url = publisher.url("/f");
    let instance = Instance::new();
    instance.run(&["feed", "add", &url, "--tag", "x", "--no-poll"]).ok();
    instance.poll(&url);
    let feed = instance.feed();
    for name in
        ["id", "url", "title", "tags", "state", "last_poll", "next_poll", "entries", "error"]
    {
        assert!(feed.get(name).is_some(), "`{name}` is missing: {feed}");
    }
    assert_eq!((&feed["title"], &feed["error"]), (&"Feed f".into(), &Value::Null));
    for name in ["last_poll", "next_poll"] {
        let time = feed[name].as_str().unwrap();
        assert!(time.len() == 20 && time.ends_with('Z'), "{name}: {time}");
    }
    let entry = &instance.entries()[0];
    for name in
        ["cursor", "id", "feed", "title", "link", "author", "summary", "published_at", "seen_at"]
    {
        assert!(entry.get(name).is_some(), "`{name}` is missing: {entry}");
    }
    assert_eq!(entry["published_at"], "2024-01-01T00:00:00Z", "oldest first: {entry}");
    assert_eq!(entry["seen_at"], instance.feed()["last_poll"], "seen when it was polled");
}

#[test]
fn the_doctor_finds_a_healthy_folder_healthy_and_a_twin_worth_a_word() {
    let instance = Instance::new();
    instance.run(&["doctor"]).ok();
    let urls = ["http://example.org/f", "https://example.org/f"];
    instance.run(&["feed", "add", urls[0], urls[1], "--no-poll"]).ok();
    let ended = instance.run(&["doctor"]);
    let told = format!("{}{}", ended.stdout, ended.stderr);
    assert!(told.contains("same feed"), "twins are named: {told}");
    instance.run(&["doctor", "--json"]).json();
}

#[test]
fn the_doctor_says_who_else_may_read_the_store() {
    use std::os::unix::fs::PermissionsExt;
    let instance = Instance::new();
    instance.run(&["feed", "add", "http://example.org/f", "--no-poll"]).ok();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let says = || instance.run(&["doctor"]).stdout.contains("all users of this machine can read");
    mode(&instance.data, 0o755);
    assert!(!says(), "a new store is for its owner alone");
    mode(&instance.data.join("tidings.db"), 0o644);
    assert!(says());
    mode(&instance.data, 0o700);
    assert!(!says(), "nobody else comes into the folder");
}
