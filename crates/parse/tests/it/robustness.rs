//! Nothing panics and limits hold, for any input.

use parse::{Document, Limits, date, discover, document, opml};
use proptest::prelude::*;
use url::Url;

use crate::corpus;

fn base() -> Url {
    Url::parse("http://example.org/dir/").unwrap()
}

fn read_all_ways(bytes: &[u8]) {
    let small = Limits { items_max: 3, depth_max: 6, field_bytes_max: 16, list_max: 2 };
    let _ = document(bytes, None, None, &Limits::default());
    if let Ok(doc) = document(bytes, Some("text/xml; charset=utf-8"), Some(&base()), &small) {
        assert!(doc.items.len() <= 3);
        assert!(doc.items.iter().all(|i| i.categories.len() <= 2 && i.enclosures.len() <= 2));
    }
    let _ = opml::read(bytes);
    let _ = discover::links(bytes, None, &base());
}

/// Pieces for broken documents.
const PIECES: [&str; 36] = [
    "<rss version='2.0'>",
    "<channel>",
    "<item>",
    "</item>",
    "<item/>",
    "<title>",
    "</title>",
    "<description>",
    "</description>",
    "<link>",
    "</link>",
    "<link href='x' rel='self'/>",
    "<guid>",
    "</guid>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<?xml version='1.0' encoding='utf-16'?>",
    "&amp;",
    "&",
    "&#x;",
    "&#150;",
    "<",
    ">",
    "\"",
    "'",
    "=",
    "\u{0}",
    "é",
    "<div xmlns='x'>",
    "</div>",
    "<feed xmlns='http://www.w3.org/2005/Atom'>",
    "<entry xml:base='../'>",
    "<author><name>",
    "<content type='xhtml'>",
];

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_all_ways(&bytes);
    }

    #[test]
    fn any_order_of_markup_is_read_or_refused(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60),
    ) {
        read_all_ways(pieces.concat().as_bytes());
        read_all_ways(format!("<rss><channel><item>{}", pieces.concat()).as_bytes());
        read_all_ways(format!("<opml><body>{}", pieces.concat()).as_bytes());
    }

    /// A text that reads as a date gives a year in which feeds exist. Printing the date or adding
    /// spaces does not change it.
    #[test]
    fn any_text_is_a_date_of_the_years_of_feeds_or_none(
        text in prop_oneof![
            "\\PC{0,60}",
            "[0-9]{1,4}[-/. ][0-9]{1,2}[-/. ][0-9]{1,4}[T ]?[0-9:.]{0,12} ?[A-Z+-]{0,4}[0-9]{0,4}",
            "[A-Za-z]{3}, [0-9]{1,2} (Jan|Feb|March|dez|Ιουλ) [0-9]{2,4} [0-9:]{0,8} ?[A-Z]{0,4}",
        ],
    ) {
        let read = date::parse(&text);
        prop_assert_eq!(date::parse(&format!(" {text}\n")), read);
        if let Some(time) = read {
            prop_assert!(text.contains(char::is_numeric), "{text}");
            prop_assert_eq!(date::parse(&time.to_string()), Some(time), "{}", text);
        }
    }

    #[test]
    fn dates_are_found_again_as_they_were_shown(secs in -60_000_000_000_i64..200_000_000_000) {
        let time = feed::Time::from_secs(secs);
        prop_assert_eq!(date::parse(&time.to_string()), Some(time));
    }

    #[test]
    fn damaged_real_documents_are_read_or_refused(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let files = corpus::files(&corpus::sample());
        let mut bytes = std::fs::read(&files[which.index(files.len())]).unwrap();
        if !bytes.is_empty() {
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(cut.index(bytes.len()) + 1);
        }
        read_all_ways(&bytes);
    }
}

/// On each of these a careless scanner would search to the end of the text for every opening. The
/// item before them is found, nothing grows, and each kind of fault is one warning.
#[test]
fn long_hostile_documents_are_read_to_their_end() {
    let pieces =
        ["<!--", "<![CDATA[", "<?", "<!a [", "<a \"", "<a b=\"", "< ", "&", "<a ", "</a", "<i>"];
    let after = "\"'>]]>--></title><link>http://e.org/last</link></item></channel></rss>";
    for piece in pieces.into_iter().chain(["<![CDATA[</title>"]) {
        let title = piece.repeat(200_000);
        let text = format!("<rss><channel><item><guid>1</guid><title>{title}{after}");
        let doc = document(text.as_bytes(), None, Some(&base()), &Limits::default()).unwrap();
        assert_eq!(doc.items.len(), 1, "{piece}");
        assert_eq!(doc.items[0].id.as_deref(), Some("1"), "{piece}");
        assert!(bytes_of(&doc) <= 2 * text.len(), "{piece}: {} bytes", bytes_of(&doc));
        assert!(doc.warnings.len() < 10, "{piece}: {:?}", doc.warnings);
        // These contain no quote that could hide what follows.
        if ["<!--", "<![CDATA[", "< ", "&", "<i>"].contains(&piece) {
            let link = doc.items[0].link.as_deref();
            assert_eq!(link, Some("http://e.org/last"), "{piece}: {:?}", doc.warnings);
        }
        assert!(opml::read(text.as_bytes()).is_err(), "{piece}");
    }
}

/// Returns the bytes of all texts and addresses in a parsed document.
fn n_bytes(text: &str, base: &Url) -> usize {
    bytes_of(&document(text.as_bytes(), None, Some(base), &Limits::default()).unwrap())
}

fn bytes_of(doc: &Document) -> usize {
    let texts = |item: &feed::Item| {
        let own = [&item.id, &item.link, &item.title, &item.author, &item.summary, &item.content];
        let own: usize = own.into_iter().flatten().map(String::len).sum();
        own + item.enclosures.iter().map(|file| file.url.len()).sum::<usize>()
    };
    doc.items.iter().map(texts).sum()
}

/// Ways to make a short document long. A base of 500 bytes lengthens short links in fields, escaped
/// HTML and inline markup. Letters become escapes. Markup gets its missing end tags.
fn swelling(head: &str) -> Vec<String> {
    let items = "<item><guid>1</guid><link>a</link><enclosure url='b'/></item>".repeat(1000);
    let files: String = (0..100_000).map(|n| format!("<enclosure url='{n}'/>")).collect();
    let files = format!("<item><guid>1</guid>{files}</item>").repeat(2);
    let links = "<a href=a>".repeat(10_000);
    let prose =
        format!("<item><guid>1</guid><description><![CDATA[{links}]]></description></item>");
    let many = prose.repeat(20);
    let inline = format!("<item><guid>1</guid><description><b {}>", "href=a ".repeat(20_000));
    let letters = format!("<a href='{}'>", "ü".repeat(100_000));
    let letters = format!("<item><description><![CDATA[{letters}]]></description></item>");
    let escapes = format!("<item><description><b/><![CDATA[{}]]>", "&".repeat(500_000));
    let late = format!("<item><description><![CDATA[{}]]><b/>", "& ".repeat(300_000));
    let ends = format!("<item><description>{}", "<b/>".repeat(300_000));
    let bodies = [items, files, prose, many, inline, letters, escapes, late, ends];
    bodies.map(|body| format!("{head}{body}")).to_vec()
}

/// Two bounds hold after links were resolved: one for each field, and one for the whole document.
/// The stored document has at most twice its length and a little more.
#[test]
fn no_document_grows_beyond_its_bounds() {
    let limits = Limits::default();
    let long = "a".repeat(480);
    let far = Url::parse(&format!("http://example.org/{long}/feed")).unwrap();
    let heads = [
        format!("<rss xml:base='http://e.org/{long}/'><channel>"),
        format!("<rss xml:base='http://e.org/{}/'><channel>", "a".repeat(100_000)),
        format!("<rss {}><channel>", "xml:base='aaaaaaaaaaaaaaaaaaaa/' ".repeat(5000)),
        format!("<rss><channel>{}", format!("<item xml:base='{long}/'>").repeat(100)),
        "<rss><channel>".to_owned(),
    ];
    for text in heads.iter().flat_map(|head| swelling(head)) {
        let doc = document(text.as_bytes(), None, Some(&far), &limits).unwrap();
        let stored = bytes_of(&doc);
        let name = &text[text.len() - 60..];
        assert!(stored <= 2 * text.len() + 256 * 1024, "{stored} of {}: {name}", text.len());
        for item in &doc.items {
            let fields = [&item.link, &item.title, &item.summary, &item.content];
            let longest = fields.into_iter().flatten().map(String::len).max().unwrap_or(0);
            assert!(longest <= limits.field_bytes_max, "{longest}: {name}");
        }
    }
}

#[test]
fn a_json_feed_grows_no_further_than_its_bounds() {
    let far = Url::parse(&format!("http://example.org/{}/", "a".repeat(480))).unwrap();
    let files: String = (0..499).map(|n| format!("{{\"url\":\"{n}\"}},")).collect();
    let files = format!("\"attachments\":[{files}{{\"url\":\"b\"}}]");
    let links = "<a href=a>".repeat(10_000);
    let item = format!("{{\"id\":\"1\",\"content_html\":\"{links}\",{files}}},").repeat(30);
    let text = format!(
        "{{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[{item}{{\"id\":\"2\"}}]}}"
    );
    let stored = n_bytes(&text, &far);
    assert!(stored <= 2 * text.len() + 256 * 1024, "{stored} of {}", text.len());
    assert!(stored > text.len() / 2, "and what fits is kept");
}

/// A real feed whose links are all relative is well within the bounds.
#[test]
fn relative_links_of_an_honest_feed_all_become_absolute() {
    let prose = "<p>Some words, and <a href='../2020/01/a-title.html'>a link</a> in each.</p>";
    let item = format!(
        "<item><guid>1</guid><link>2020/a.html</link><description><![CDATA[{}]]></description>\
         </item>",
        prose.repeat(50)
    );
    let text = format!("<rss><channel>{}", item.repeat(100));
    let base = Url::parse("https://www.example.org/some/where/under/blog/feed.xml").unwrap();
    let doc = document(text.as_bytes(), None, Some(&base), &Limits::default()).unwrap();
    assert_eq!(doc.items.len(), 100);
    for item in &doc.items {
        assert_eq!(
            item.link.as_deref(),
            Some("https://www.example.org/some/where/under/blog/2020/a.html")
        );
        let html = item.summary.as_deref().unwrap();
        let link = "'https://www.example.org/some/where/under/2020/01/a-title.html'";
        assert_eq!(html.matches(link).count(), 50);
    }
}

#[test]
fn titles_and_other_names_are_cut_and_files_at_endless_addresses_left_out() {
    let long = "é".repeat(100_000);
    let text = format!(
        "<rss><channel><title>{long}</title><item><guid>1</guid><title>{long}</title>\
         <author>{long}</author><category>{long}</category>\
         <enclosure url='http://e.org/{long}'/><enclosure url='http://e.org/a.mp3'/></item>"
    );
    let doc = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
    let item = &doc.items[0];
    for name in [&doc.title, &item.title, &item.author, &item.categories.first().cloned()] {
        assert_eq!(name.as_ref().map(String::len), Some(4096));
    }
    assert_eq!(item.enclosures.len(), 1);
    assert!(doc.warnings.iter().any(|w| w.contains("longer than the limit")));
}

#[test]
fn a_broken_document_is_told_from_an_empty_feed() {
    let damaged = |text: &str| {
        let doc = document(text.as_bytes(), None, None, &Limits::default()).unwrap();
        assert!(doc.items.is_empty(), "{text}");
        doc.is_damaged
    };
    let head = "<rss version='2.0'><channel><title>A</title><link>http://e.org/</link>";
    for broken in [
        "<rss version='2.0'><chann\u{1}el <<<<".to_owned(),
        head.to_owned(),
        format!("{head}<item><title>cut he"),
        format!("{head}<![CDATA[ </channel></rss>"),
        format!("{head}<descr\u{fffd}</channel></rss>"),
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>x".to_owned(),
        "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[1,2]}".to_owned(),
    ] {
        assert!(damaged(&broken), "{broken}");
    }
    for empty in [
        format!("{head}</channel></rss>"),
        format!("{head}<description>a & b &nope; <b>c</description></channel></rss>"),
        format!("{head}<lastBuildDate>soon</lastBuildDate><ttl>x</ttl></channel></rss>"),
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>x</title></feed>".to_owned(),
        "<rss version='2.0'/>".to_owned(),
        "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[]}".to_owned(),
    ] {
        assert!(!damaged(&empty), "{empty}");
    }
    let cut = "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{\"id\":";
    let refused = document(cut.as_bytes(), None, None, &Limits::default()).unwrap_err();
    assert_eq!(refused.kind, parse::NotAFeedKind::BrokenJsonFeed);
}

#[test]
fn an_address_with_a_long_query_is_still_a_base() {
    let signed = format!("http://example.org/dir/feed?signature={}", "a".repeat(4000));
    let text = "<rss><channel><item><link>x</link></item></channel></rss>";
    let base = Url::parse(&signed).unwrap();
    let doc = document(text.as_bytes(), None, Some(&base), &Limits::default()).unwrap();
    assert_eq!(doc.items[0].link.as_deref(), Some("http://example.org/dir/x"));
}
