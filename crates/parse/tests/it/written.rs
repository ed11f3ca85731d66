//! What we write, we read back: the same facts, the same items.

use feed::{Enclosure, Item, Time};
use parse::write::{Label, Origin, Published, atom, json, rss};
use parse::{Document, Format, Limits, document};

fn published() -> Published {
    let first = Item {
        id: Some("tag:e.org,2024:1?a&b".to_owned()),
        title: Some("Tom & <i>Jerry</i>".to_owned()),
        link: Some("http://e.org/1?a=1&b=2".to_owned()),
        published: Some(Time::from_secs(1_072_865_695)),
        updated: Some(Time::from_secs(1_072_865_999)),
        author: Some("Ann \"A\" O'Neil".to_owned()),
        summary: Some("<p>short ]]> &amp; sweet</p>".to_owned()),
        content: Some("<p>long\n<img src=\"http://e.org/i.png\"></p>".to_owned()),
        categories: vec!["a & b".to_owned(), "c".to_owned()],
        enclosures: vec![Enclosure {
            url: "http://e.org/a.mp3?x&y".to_owned(),
            mime_type: Some("audio/mpeg".to_owned()),
            length: Some(123),
        }],
    };
    let second = Item { link: Some("http://e.org/2".to_owned()), ..Item::default() };
    Published {
        title: "A feed <of> ours & theirs".to_owned(),
        link: Some("http://e.org/".to_owned()),
        self_link: Some("http://e.org/feed".to_owned()),
        hubs: vec!["http://hub.e.org/".to_owned()],
        language: Some("en-GB".to_owned()),
        updated: Some(Time::from_secs(1_072_866_000)),
        ttl: Some(std::time::Duration::from_secs(3600)),
        items: vec![first, second, Item::default()],
        origins: vec![Origin {
            title: "Theirs & others'".to_owned(),
            url: "http://their.org/feed?a&b".to_owned(),
            updated: None,
        }],
        labels: Vec::new(),
        id: None,
        pages: vec![("next", "http://e.org/feed?before=7&x".to_owned())],
    }
}

#[test]
fn an_item_names_the_feed_it_was_taken_from_and_a_page_the_next() {
    let doc = published();
    let atom = atom(&doc);
    assert!(atom.contains("<source>\n<id>http://their.org/feed?a&amp;b</id>"), "{atom}");
    assert!(atom.contains("<link rel=\"next\" href=\"http://e.org/feed?before=7&amp;x\"/>"));
    assert_eq!(atom.matches("<source>").count(), 1, "the second item has no origin");
    let rss = rss(&doc);
    let source = "<source url=\"http://their.org/feed?a&amp;b\">Theirs &amp; others'</source>";
    assert!(rss.contains(source), "{rss}");
    assert!(rss.contains("<atom:link rel=\"next\""));
    let json = json(&doc);
    assert!(json.contains("\"next_url\":\"http://e.org/feed?before=7&x\""), "{json}");
    assert!(json.contains("\"_source\":{\"title\":\"Theirs & others'\""), "{json}");
    // What we read has its own id, title and links, not those of the source.
    let read = document(atom.as_bytes(), None, None, &Limits::default()).unwrap();
    assert_eq!(read.items[0].id.as_deref(), Some("tag:e.org,2024:1?a&b"));
    assert_eq!(read.items[0].link.as_deref(), Some("http://e.org/1?a=1&b=2"));
    assert_eq!(read.items[0].title.as_deref(), doc.items[0].title.as_deref());
}

#[test]
fn atom_carries_marks_in_their_own_vocabulary() {
    let mark = Label {
        scheme: "http://vocabulary.e.org/",
        term: "state/read & <kept>".to_owned(),
        label: "read".to_owned(),
    };
    let doc = Published { labels: vec![vec![], vec![mark]], ..published() };
    let atom = atom(&doc);
    let marked = "<category term=\"state/read &amp; &lt;kept&gt;\" \
                  scheme=\"http://vocabulary.e.org/\" label=\"read\"/>";
    let entries: Vec<&str> = atom.split("<entry>").collect();
    assert!(!entries[1].contains(marked) && entries[2].contains(marked), "{atom}");
}

#[track_caller]
fn check(text: &str, format: Format) -> Document {
    let doc = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
    let given = published();
    assert_eq!(doc.format, format);
    assert_eq!(doc.warnings, [""; 0], "{text}");
    assert_eq!(doc.link, given.link);
    assert_eq!(doc.self_link, given.self_link);
    assert_eq!(doc.hubs, given.hubs);
    assert_eq!(doc.language, given.language);
    assert_eq!(doc.items.len(), 2, "an item without id and link is left out");
    assert_eq!(doc.items[0], given.items[0]);
    assert_eq!(doc.items[1].id, given.items[1].link);
    assert_eq!(doc.title.as_deref(), Some(given.title.as_str()));
    doc
}

#[test]
fn atom_is_read_back() {
    let doc = check(&atom(&published()), Format::Atom10);
    assert_eq!(doc.updated, published().updated);
}

#[test]
fn rss_is_read_back() {
    let doc = check(&rss(&published()), Format::Rss20);
    assert_eq!(doc.updated, published().updated);
    assert_eq!(doc.hints.ttl, published().ttl);
}

#[test]
fn json_is_read_back() {
    check(&json(&published()), Format::JsonFeed1);
}

#[test]
fn characters_that_xml_cannot_carry_are_left_out() {
    let item = Item {
        id: Some("1".to_owned()),
        title: Some("a\u{0}\u{b}b".to_owned()),
        ..Item::default()
    };
    let doc = Published { items: vec![item], ..Published::default() };
    for text in [atom(&doc), rss(&doc)] {
        let read = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
        assert_eq!(read.items[0].title.as_deref(), Some("ab"));
        assert!(read.warnings.is_empty());
    }
}
