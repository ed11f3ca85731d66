//! Nothing panics and limits hold, whatever comes.

use parse::{Limits, date, discover, document, opml};
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

/// Pieces of which broken documents are made.
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

    #[test]
    fn any_text_is_a_date_or_not(text in "\\PC{0,60}") {
        let _ = date::parse(&text);
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

/// Each of these made a careless scanner search to the end of the text for every opening.
#[test]
fn long_hostile_documents_are_read_to_their_end() {
    let pieces =
        ["<!--", "<![CDATA[", "<?", "<!a [", "<a \"", "<a b=\"", "< ", "&", "<a ", "</a", "<i>"];
    for piece in pieces.into_iter().chain(["<![CDATA[</title>"]) {
        let text = format!("<rss><channel><item><title>{}", piece.repeat(200_000));
        let _ = document(text.as_bytes(), None, Some(&base()), &Limits::default());
        let _ = opml::read(text.as_bytes());
    }
}

/// The bytes of all texts and addresses that a document was read into.
fn n_bytes(text: &str, base: &Url) -> usize {
    let doc = document(text.as_bytes(), None, Some(base), &Limits::default()).unwrap();
    let texts = |item: &feed::Item| {
        let own = [&item.id, &item.link, &item.title, &item.summary, &item.content];
        let own: usize = own.into_iter().flatten().map(String::len).sum();
        own + item.enclosures.iter().map(|file| file.url.len()).sum::<usize>()
    };
    doc.items.iter().map(texts).sum()
}

/// A long base once, and addresses that are short and many: each would become long.
#[test]
fn relative_addresses_make_no_document_grow_without_bound() {
    let long = "a".repeat(100_000);
    let wide = format!("<rss xml:base='http://e.org/{long}/'><channel>");
    let twice = format!("<rss {}><channel>", "xml:base='aaaaaaaaaaaaaaaaaaaa/' ".repeat(5000));
    let deep = format!("<item xml:base='{}/'>", "a".repeat(1000)).repeat(100);
    let deep = format!("<rss><channel>{deep}");
    let far = Url::parse(&format!("http://example.org/{long}/feed")).unwrap();
    let items = "<item><guid>1</guid><link>a</link><enclosure url='b'/></item>".repeat(1000);
    let links = "<a href=a>".repeat(10_000);
    let prose = format!("<item><guid>1</guid><description><![CDATA[{links}]]></description>");
    let inline = format!("<item><guid>1</guid><description><b {}>", "href=a ".repeat(20_000));
    for body in [items, prose, inline] {
        for (head, base) in
            [(&wide, base()), (&twice, base()), (&deep, base()), (&wide, far.clone())]
        {
            let text = format!("{head}{body}");
            assert!(n_bytes(&text, &base) <= 4_000_000, "{} of {}", text.len(), &text[..60]);
        }
    }
}

#[test]
fn an_address_with_a_long_query_is_still_a_base() {
    let signed = format!("http://example.org/dir/feed?signature={}", "a".repeat(4000));
    let text = "<rss><channel><item><link>x</link></item></channel></rss>";
    let base = Url::parse(&signed).unwrap();
    let doc = document(text.as_bytes(), None, Some(&base), &Limits::default()).unwrap();
    assert_eq!(doc.items[0].link.as_deref(), Some("http://example.org/dir/x"));
}
