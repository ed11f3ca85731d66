//! Reading a document that we wrote gives the same facts and the same items.

use feed::{Enclosure, Item, Source, Time};
use parse::write::{ItemLabel, PublishedDocument, atom, json, rss};
use parse::{Document, Format, Limits, document};

fn published() -> PublishedDocument {
    let first = Item {
        id: Some("tag:e.org,2024:1?a&b".to_owned()),
        title: Some("Tom & Jerry, 1 < 2".to_owned()),
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
            ..Enclosure::default()
        }],
        language: Some("de-AT".to_owned()),
        source: Some(Source {
            id: Some("tag:their.org,2024:feed".to_owned()),
            url: Some("http://their.org/feed?a&b".to_owned()),
            title: Some("Theirs & others'".to_owned()),
            site: Some("http://their.org/".to_owned()),
            updated: Some(Time::from_secs(1_072_860_000)),
            via: vec!["urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6".to_owned()],
        }),
        ..Item::default()
    };
    let second = Item { link: Some("http://e.org/2".to_owned()), ..Item::default() };
    PublishedDocument {
        title: "A feed of ours & theirs".to_owned(),
        link: Some("http://e.org/".to_owned()),
        self_link: Some("http://e.org/feed".to_owned()),
        hubs: vec!["http://hub.e.org/".to_owned()],
        cloud: Some(parse::write::CloudService {
            domain: "cloud.e.org".to_owned(),
            port: 80,
            path: "/notify?a&b".to_owned(),
            protocol: "http-post",
        }),
        language: Some("en-GB".to_owned()),
        updated: Some(Time::from_secs(1_072_866_000)),
        ttl: Some(std::time::Duration::from_secs(3600)),
        items: vec![first, second, Item::default()],
        labels: Vec::new(),
        id: None,
        pages: vec![("next", "http://e.org/feed?before=7&x".to_owned())],
    }
}

#[test]
fn an_item_names_the_feed_it_was_taken_from_and_a_page_the_next() {
    let doc = published();
    let atom = atom(&doc);
    assert!(atom.contains("<source>\n<id>tag:their.org,2024:feed</id>"), "{atom}");
    assert!(atom.contains("<link rel=\"next\" href=\"http://e.org/feed?before=7&amp;x\"/>"));
    assert_eq!(atom.matches("<source>").count(), 1, "the second item has no source");
    let rss = rss(&doc);
    let source = "<source url=\"http://their.org/feed?a&amp;b\">Theirs &amp; others'</source>";
    assert!(rss.contains(source), "{rss}");
    assert!(rss.contains("<atom:link rel=\"next\""));
    let cloud = "<cloud domain=\"cloud.e.org\" port=\"80\" path=\"/notify?a&amp;b\" \
                 registerProcedure=\"\" protocol=\"http-post\"/>";
    assert!(rss.contains(cloud) && !atom.contains("cloud.e.org"), "{rss}");
    let json = json(&doc);
    assert!(json.contains("\"next_url\":\"http://e.org/feed?before=7&x\""), "{json}");
}

#[test]
fn a_source_without_a_name_or_of_absurd_length_is_not_read() {
    let url = "x".repeat(9000);
    for source in ["<source>Only a title</source>".to_owned(), format!("<source url='{url}'/>")] {
        let text = format!(
            "<rss version='2.0'><channel><item><guid>1</guid>{source}</item></channel></rss>"
        );
        let doc = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
        assert_eq!(doc.items[0].source, None);
    }
}

/// Items as publishers write them, in which the W3C validator finds errors, and our valid output.
#[test]
fn whatever_an_item_lacks_the_document_is_valid() {
    let id = || Some("tag:e.org,2024:1".to_owned());
    let link = || Some("http://e.org/1".to_owned());
    let text = || Some("text".to_owned());
    let file = |url: &str, kind: &str| Enclosure {
        url: url.to_owned(),
        mime_type: Some(kind.to_owned()),
        ..Enclosure::default()
    };
    let bare = Item { id: id(), ..Item::default() };
    let linked = Item { link: link(), ..bare.clone() };
    let summed = Item { summary: text(), ..bare.clone() };
    let full = Item { content: text(), ..bare.clone() };
    let titled = Item { title: text(), ..bare.clone() };
    let torrent = file("magnet:?xt=urn:a", "x");
    let files = vec![torrent, file("http://e.org/a", "mp3"), file("http://e.org/b", "audio/x;q=1")];
    let files = Item { enclosures: files, ..titled.clone() };
    // An item, then texts that its Atom must contain, texts that its RSS must contain, and texts
    // that neither may contain.
    let cases = [
        (&bare, "<content type=\"text\">tag:", "<title>tag:e.org", "<summary"),
        (
            &linked,
            "rel=\"alternate\" href=\"http://e.org/1\"",
            "<title>http://e.org/1<",
            "<content",
        ),
        (&summed, "<content type=\"html\">text<", "<description>text<", "<summary"),
        (&full, "<content type=\"html\">text<", "<description>text<", "content:encoded>"),
        (&titled, "<content type=\"text\">text<", "<title>text<", "<description>text"),
        (
            &files,
            "<link rel=\"enclosure\" href=\"http://e.org/b\" type=\"audio/x\"/>",
            "<enclosure url=\"http://e.org/a\" length=\"0\" type=\"application/octet-stream\"/>",
            "type=\"mp3\"",
        ),
    ];
    for (item, in_atom, in_rss, in_neither) in cases {
        let doc = PublishedDocument { items: vec![item.clone()], ..PublishedDocument::default() };
        let (atom, rss) = (atom(&doc), rss(&doc));
        assert!(atom.contains(in_atom), "{in_atom} in {atom}");
        assert!(rss.contains(in_rss), "{in_rss} in {rss}");
        assert!(
            !atom.contains(in_neither) && !rss.contains(in_neither),
            "{in_neither}: {atom}{rss}"
        );
        assert!(rss.matches("<enclosure ").count() <= 1, "{rss}");
        for text in [atom, rss] {
            let read = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
            assert_eq!(read.items[0].enclosures.len(), item.enclosures.len(), "{text}");
        }
    }
    let both = Item { summary: text(), content: Some("more".to_owned()), ..bare };
    let doc = PublishedDocument { items: vec![both], ..PublishedDocument::default() };
    let rss = rss(&doc);
    let place = |name: &str| rss.rfind(name).unwrap();
    assert!(place("<description>") < place("<content:encoded>"), "{rss}");
}

#[test]
fn texts_that_look_like_markup_are_shown_and_not_run() {
    let live = "The <img src=x onerror=alert(1)> &amp; element";
    let item = Item {
        id: Some("tag:e.org,2024:1".to_owned()),
        title: Some(live.to_owned()),
        author: Some(live.to_owned()),
        categories: vec![live.to_owned()],
        source: Some(Source {
            url: Some("http://their.org/".to_owned()),
            title: Some(live.to_owned()),
            ..Source::default()
        }),
        ..Item::default()
    };
    let doc = PublishedDocument {
        title: live.to_owned(),
        items: vec![item],
        ..PublishedDocument::default()
    };
    let escaped = "The &lt;img src=x onerror=alert(1)&gt; &amp;amp; element";
    let (atom, rss) = (atom(&doc), rss(&doc));
    for text in [&atom, &rss] {
        let read = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
        assert_eq!(read.title.as_deref(), Some(escaped), "{text}");
        assert_eq!(read.items[0].title.as_deref(), Some(escaped), "{text}");
    }
    assert!(!atom.contains("<title type=\"html\">The &lt;"), "{atom}");
    assert!(!rss.contains("The &lt;img"), "{rss}");
}

#[test]
fn atom_carries_marks_in_their_own_vocabulary() {
    let mark = ItemLabel {
        scheme: "http://vocabulary.e.org/",
        term: "state/read & <kept>".to_owned(),
        label: "read".to_owned(),
    };
    let doc = PublishedDocument { labels: vec![vec![], vec![mark]], ..published() };
    let atom = atom(&doc);
    let marked = "<category term=\"state/read &amp; &lt;kept&gt;\" \
                  scheme=\"http://vocabulary.e.org/\" label=\"read\"/>";
    let entries: Vec<&str> = atom.split("<entry").collect();
    assert!(!entries[1].contains(marked) && entries[2].contains(marked), "{atom}");
}

#[test]
fn a_document_can_be_written_with_some_of_its_items() {
    let mut doc = published();
    let extra = |n: u32| Item { id: Some(format!("urn:x:{n}")), ..Item::default() };
    doc.items.extend([extra(3), extra(4)]);
    for (written, format) in [
        (parse::write::written_atom(&doc), Format::Atom10),
        (parse::write::written_rss(&doc), Format::Rss20),
        (parse::write::written_json(&doc), Format::JsonFeed1),
    ] {
        let read = |text: &str| document(text.as_bytes(), None, None, &Limits::default()).unwrap();
        let all = read(&written.text);
        assert_eq!((all.format, written.items.len()), (format, 4));
        for numbers in [&[0_usize, 2][..], &[3], &[], &[0, 1, 2, 3]] {
            let some = read(&written.with_items(numbers));
            let expect: Vec<&Item> = numbers.iter().map(|n| &all.items[*n]).collect();
            assert_eq!(some.items.iter().collect::<Vec<_>>(), expect, "{numbers:?}");
            assert_eq!((&some.title, &some.hubs), (&all.title, &all.hubs));
            assert_eq!(some.warnings, Vec::<String>::new());
        }
        assert_eq!(written.with_items(&[0, 1, 2, 3]), written.text);
    }
}

#[track_caller]
fn check(text: &str, format: Format) -> Document {
    let doc = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
    let mut given = published();
    if format == Format::Rss20 {
        // Its source element has an address and a title, and cannot hold anything else.
        let source = given.items[0].source.take().unwrap();
        given.items[0].source = Some(Source { id: None, site: None, updated: None, ..source });
    }
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
    let doc = PublishedDocument { items: vec![item], ..PublishedDocument::default() };
    for text in [atom(&doc), rss(&doc)] {
        let read = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
        assert_eq!(read.items[0].title.as_deref(), Some("ab"));
        assert!(read.warnings.is_empty());
    }
}
