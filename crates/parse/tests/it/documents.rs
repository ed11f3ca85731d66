//! The collections of other parsers: every file is read, or refused with the right reason.

use parse::{Format, Limits, NotAFeedKind, document};

use crate::corpus;

const COLLECTIONS: [&str; 5] = [
    "feeds/mmcdole__gofeed",
    "feeds/feed-rs__feed-rs",
    "feeds/Ranchero-Software__NetNewsWire",
    "feeds/danmactough__node-feedparser",
    "feeds/rust-syndication__rss",
];

/// Files whose markup has more items than a reader wants, with the wanted number.
const OTHERWISE: [(&str, usize); 2] = [
    // Ten items contain an empty `<item/>` each.
    ("illegally-nested.xml", 10),
    // Cut off inside its only item, before an id.
    ("rss_2.0_invalid_1.xml", 0),
];

#[test]
fn the_collections_of_other_parsers_are_read_or_refused_for_what_they_are() {
    for collection in COLLECTIONS {
        let Some(root) = corpus::shared(collection) else { continue };
        let (mut read, mut refused) = (0, 0);
        for path in corpus::files(&root) {
            let bytes = std::fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            match document(&bytes, None, None, &Limits::default()) {
                Ok(doc) => {
                    read += 1;
                    let otherwise = OTHERWISE.iter().find(|(file, _)| *file == name);
                    let wanted = otherwise
                        .map_or_else(|| corpus::implied_items(&bytes), |(_, wanted)| *wanted);
                    if doc.format != Format::JsonFeed1 {
                        assert_eq!(doc.items.len(), wanted, "{}", path.display());
                    }
                }
                Err(refusal) => {
                    refused += 1;
                    assert!(
                        refusal.kind == NotAFeedKind::Opml && name.ends_with(".opml"),
                        "{}: {refusal}",
                        path.display()
                    );
                }
            }
        }
        println!("{collection}: {read} read, {refused} refused");
        assert!(read > 20);
    }
}

#[track_caller]
fn refused(bytes: &[u8], kind: NotAFeedKind, says: &str) {
    let refusal = document(bytes, None, None, &Limits::default()).unwrap_err();
    assert_eq!(refusal.kind, kind, "{refusal}");
    assert!(refusal.to_string().contains(says), "{refusal}");
}

#[test]
fn what_is_not_a_feed_is_named() {
    refused(b"", NotAFeedKind::Empty, "empty");
    refused(b" \n ", NotAFeedKind::Empty, "empty");
    refused(b"<!DOCTYPE html><title>Hi &amp; ho</title>", NotAFeedKind::Html, "titled \"Hi & ho\"");
    refused(b"<html><body><p>&lt;rss&gt; <rss></rss>", NotAFeedKind::Html, "HTML page");
    refused(b"<opml version='2.0'><body/></opml>", NotAFeedKind::Opml, "OPML");
    refused(b"{\"a\": 1}", NotAFeedKind::Json, "not a JSON Feed");
    refused(
        b"{\"version\": \"https://jsonfeed.org/version/1\", ",
        NotAFeedKind::BrokenJsonFeed,
        "broken",
    );
    refused(b"Not found, sorry", NotAFeedKind::Text, "plain text that begins \"Not found, sorry\"");
    refused(b"%PDF-1.4", NotAFeedKind::Binary, "PDF");
    refused(b"\x89PNG\r\n\x1a\n", NotAFeedKind::Binary, "PNG");
    refused(b"PK\x03\x04abc", NotAFeedKind::Binary, "ZIP");
    refused(b"<urlset><url/></urlset>", NotAFeedKind::Xml, "sitemap");
    refused(b"<foo><item/></foo>", NotAFeedKind::Xml, "root <foo>");
    refused(b"<?xml version='1.0'?><!-- x -->", NotAFeedKind::Xml, "without an element");
}
