//! `tidings article`: the main text of a page, from a file and from an address.

use serde_json::Value;

use crate::program::{Instance, path_text};
use crate::publisher::Publisher;
use crate::wire::Response;

/// A page with a text of five paragraphs and things around it.
fn page() -> String {
    let prose: String = (1..=5)
        .map(|n| {
            format!(
                "<p onclick=x()>Paragraph {n} tells, in some detail, how the harbour of the small \
                 town was rebuilt after the storm, who paid for it, and why it took years.</p>"
            )
        })
        .collect();
    format!(
        "<!doctype html><html lang=en-GB dir=ltr><head><title>The harbour of the town</title>\
         <meta name=author content='Jane Roe'><meta property='og:site_name' content='The Herald'>\
         <meta property='article:published_time' content='2026-03-05T10:00:00+02:00'>\
         <meta property='og:image' content='/quay.jpg'><meta name=description content='In short.'>\
         </head><body><nav><a href=/>Home</a></nav><article><h1>The harbour of the town</h1>{prose}\
         <p><a href=next>the plan of the quay</a> and what the council said about it later</p>\
         <h3>Related stories</h3><ul><li><a href=/a>Another storm</a></li></ul>\
         </article><script>alert(1)</script></body></html>"
    )
}

#[track_caller]
fn check(article: &Value, origin: &str) {
    let keys: Vec<&str> = article.as_object().unwrap().keys().map(String::as_str).collect();
    let mut wanted = vec![
        "title",
        "byline",
        "language",
        "direction",
        "published",
        "site",
        "excerpt",
        "image",
        "text",
        "html",
    ];
    wanted.sort_unstable();
    let mut found = keys.clone();
    found.sort_unstable();
    assert_eq!(found, wanted, "the names of the contract");
    assert_eq!(article["title"], "The harbour of the town");
    assert_eq!(article["byline"], "Jane Roe");
    assert_eq!(article["language"], "en-GB");
    assert_eq!(article["direction"], "ltr");
    assert_eq!(article["published"], "2026-03-05T08:00:00Z");
    assert_eq!(article["site"], "The Herald");
    assert_eq!(article["excerpt"], "In short.");
    assert_eq!(article["image"], format!("{origin}/quay.jpg"));
    let (text, html) = (article["text"].as_str().unwrap(), article["html"].as_str().unwrap());
    assert_eq!(text.lines().count(), 6, "one line per block: {text}");
    for word in ["Related stories", "Another storm", "The harbour of the town"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    assert!(html.contains(&format!("href=\"{origin}/next\"")), "{html}");
    assert!(!html.contains("onclick") && !html.contains("script"), "{html}");
}

#[test]
fn a_file_yields_its_article() {
    let instance = Instance::new();
    let file = instance.write("page.html", page());
    let args = ["article", path_text(&file), "--url", "https://herald.example/story", "--json"];
    check(&instance.run(&args).ok().json(), "https://herald.example");
    let shown = instance.run(&["article", path_text(&file)]).ok().stdout;
    assert!(shown.starts_with("The harbour of the town\nJane Roe\n"), "{shown}");
    assert!(shown.contains("\n\nParagraph 1 tells"), "{shown}");
}

#[test]
fn an_address_is_fetched_by_one_request() {
    let publisher = Publisher::start(1);
    let html = Response::new(200).with("Content-Type", "text/html").body(page());
    publisher.set_answer("/story", html);
    let instance = Instance::new();
    let url = publisher.url("/story");
    let article = instance.run(&["article", &url, "--allow-private", "--json"]).ok().json();
    check(&article, url.strip_suffix("/story").unwrap());
    assert_eq!(publisher.n_asked(), 1);
    instance.run(&["article", &url]).says(1, &["/story", "private"]);
    instance.run(&["article", &publisher.url("/gone"), "--allow-private"]).says(1, &["404"]);
}

#[test]
fn a_rule_chooses_and_absent_values_are_null() {
    let instance = Instance::new();
    let file = instance.write("p.html", "<div id=x><p>One</p><p class=ad>Buy</p></div><p>Two</p>");
    let args = ["article", path_text(&file), "--keep", "#x", "--remove", ".ad", "--json"];
    let article = instance.run(&args).ok().json();
    assert_eq!(article["text"], "One");
    for name in ["title", "byline", "language", "direction", "published", "site", "image"] {
        assert!(article[name].is_null(), "{name}: {article}");
    }
    let file = path_text(&file);
    instance.run(&["article", file, "--keep", "#y"]).says(1, &["nothing", "#y"]);
    instance.run(&["article", file, "--keep", "::::"]).says(2, &["CSS selector"]);
}

#[test]
fn a_page_without_main_text_has_a_reason() {
    let instance = Instance::new();
    for (name, content, part) in [
        ("empty.html", "<html><body></body></html>", "no main text"),
        ("words.txt", "just some words", "not an HTML page"),
        ("deep.html", &"<div>".repeat(100_000), "too deeply"),
        ("large.html", &"<p>words</p>".repeat(300_000), "too large"),
    ] {
        let file = instance.write(name, content);
        let ended = instance.run(&["article", path_text(&file), "--json"]);
        ended.says(1, &[name, part]);
        assert_eq!(ended.stdout, "", "{name}");
    }
    instance.run(&["article", "missing.html"]).says(2, &["missing.html"]);
}
