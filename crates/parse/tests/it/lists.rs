//! Subscription lists: real ones, broken ones, and a round trip.

use parse::opml::{Opml, Outline, read, write, write_in_order};

use crate::corpus;

#[track_caller]
fn body(inner: &str) -> Opml {
    read(
        format!("<opml version='2.0'><head><title>L</title></head><body>{inner}</body></opml>")
            .as_bytes(),
    )
    .unwrap()
}

#[test]
fn real_lists_give_every_feed_that_they_name() {
    let Some(root) = corpus::shared("opml") else { return };
    let (mut n_files, mut n_feeds, mut n_skipped) = (0, 0, 0);
    for path in corpus::files(&root) {
        let bytes = std::fs::read(&path).unwrap();
        let list = read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let text = String::from_utf8_lossy(&bytes);
        // Every address is in one attribute. A feed that is listed twice is one outline.
        let named = text.matches("xmlUrl=\"").count() + text.matches("xmlurl=\"").count();
        let repeated = list.skipped.iter().filter(|s| s.why.contains("twice")).count();
        let shared_tags: usize = list.outlines.iter().map(|o| o.tags.len().saturating_sub(1)).sum();
        let empty = text.matches("xmlUrl=\"\"").count();
        assert!(
            list.outlines.len() + repeated + shared_tags + empty >= named
                && list.outlines.len() <= named,
            "{}: {} outlines, {named} named, {:?}",
            path.display(),
            list.outlines.len(),
            list.skipped
        );
        let again = read(write("x", &list.outlines).as_bytes()).unwrap();
        assert_eq!(sorted(again.outlines), sorted(list.outlines.clone()), "{}", path.display());
        assert!(again.skipped.is_empty(), "{:?}", again.skipped);
        n_files += 1;
        n_feeds += list.outlines.len();
        n_skipped += list.skipped.len();
    }
    println!("{n_files} lists, {n_feeds} feeds, {n_skipped} skipped");
    assert!(n_files > 100);
}

fn sorted(mut outlines: Vec<Outline>) -> Vec<Outline> {
    for outline in &mut outlines {
        outline.tags.sort();
    }
    outlines.sort_by(|a, b| a.url.cmp(&b.url));
    outlines
}

#[test]
fn nested_folders_become_one_tag_and_nest_again() {
    let list = body(
        "<outline text='a'><outline text='b'><outline text='F' xmlUrl='http://e.org/f' \
         htmlUrl='http://e.org/'/></outline><outline text='G' xmlUrl='http://e.org/g'/></outline>\
         <outline type='rss' text='H' url='http://e.org/h' category='/x/y,z'/>",
    );
    let tags: Vec<_> = list.outlines.iter().map(|o| o.tags.clone()).collect();
    assert_eq!(tags, [vec!["a/b"], vec!["a"], vec!["x/y", "z"]]);
    assert_eq!(list.outlines[0].site.as_deref(), Some("http://e.org/"));
    let text = write(list.title.as_deref().unwrap(), &list.outlines);
    assert_eq!(text.matches("<outline text=\"a\">").count(), 1, "{text}");
    assert_eq!(text.matches("<outline text=\"b\">").count(), 1, "{text}");
    assert_eq!(sorted(read(text.as_bytes()).unwrap().outlines), sorted(list.outlines));
}

#[test]
fn folders_are_written_by_name_or_in_the_order_of_their_feeds() {
    let outline = |url: &str, tag: &str| Outline {
        url: format!("http://e.org/{url}"),
        tags: Some(tag).filter(|tag| !tag.is_empty()).map(str::to_owned).into_iter().collect(),
        ..Outline::default()
    };
    let list = [
        outline("1", "z/b"),
        outline("2", "a"),
        outline("3", ""),
        outline("4", "z/a"),
        outline("5", "z"),
    ];
    let urls = |text: String| -> Vec<String> {
        let outlines = read(text.as_bytes()).unwrap().outlines;
        outlines.iter().map(|one| one.url.trim_start_matches("http://e.org/").to_owned()).collect()
    };
    assert_eq!(urls(write("x", &list)), ["3", "2", "5", "4", "1"]);
    let text = write_in_order("x", &list);
    assert_eq!(text.matches("<outline text=\"z\">").count(), 1, "each folder once: {text}");
    assert_eq!(urls(text), ["3", "5", "1", "4", "2"]);
}

#[test]
fn a_feed_in_two_folders_has_two_tags() {
    let list = body(
        "<outline text='a'><outline xmlUrl='http://e.org/f'/></outline>\
         <outline text='b, c'><outline xmlUrl='http://e.org/f'/></outline>",
    );
    assert_eq!(list.outlines.len(), 1);
    assert_eq!(list.outlines[0].tags, ["a", "b, c"]);
    let again = read(write("x", &list.outlines).as_bytes()).unwrap();
    assert_eq!(sorted(again.outlines), sorted(list.outlines));
}

#[test]
fn broken_lists_are_read_and_what_is_skipped_has_a_place_and_a_reason() {
    let list = read(
        b"<?xml version='1.0'?>\n<opml><body>\n\
          <outline text='R&D' xmlUrl='http://e.org/?a=1&b=2'>\n\
          <outline text='no address'/>\n<outline text='second' xmlUrl='http://e.org/2'/>\n\
          <outline text='F & Co'>\n <outline xmlUrl=http://e.org/3 text=three>\n</body>",
    )
    .unwrap();
    let urls: Vec<_> = list.outlines.iter().map(|o| o.url.as_str()).collect();
    assert_eq!(urls, ["http://e.org/?a=1&b=2", "http://e.org/2", "http://e.org/3"]);
    assert_eq!(list.outlines[0].title.as_deref(), Some("R&D"));
    assert_eq!(list.outlines[2].tags, ["F & Co"]);
    let first = &list.skipped[0];
    assert_eq!((first.line, first.column, first.what.as_str()), (4, 1, "no address"));
    assert!(first.why.contains("xmlUrl"));
}

#[test]
fn an_outline_torn_by_raw_html_keeps_its_address() {
    let list = body(
        "<outline text='f'><outline text=\"S\" description=\"at <a href=\"http://x/\">X</a>\" \
         xmlUrl=\"http://e.org/s?a=1&amp;b\" type=\"rss\" /><outline xmlUrl='http://e.org/t'/>\
         </outline>",
    );
    let found: Vec<_> =
        list.outlines.iter().map(|o| (o.url.as_str(), o.tags[0].as_str())).collect();
    assert_eq!(found, [("http://e.org/s?a=1&b", "f"), ("http://e.org/t", "f")]);
    assert!(list.skipped.is_empty(), "{:?}", list.skipped);
}

#[test]
fn what_is_no_list_is_refused() {
    for bytes in [&b""[..], b"hello", b"<rss/>", b"<html><body>"] {
        assert!(read(bytes).is_err());
    }
    assert_eq!(read(b"<opml/>").unwrap().outlines.len(), 0);
}

/// On each of these lists a careless reader would scan the whole list again for every outline, or
/// keep a long name for every feed.
#[test]
fn long_hostile_lists_are_read_to_their_end_and_do_not_grow() {
    let many = "<outline text='a'>".repeat(50_000);
    let nameless = "<outline>".repeat(50_000);
    let long = format!("<outline text='{}'>", "a".repeat(500_000));
    let feeds: String =
        (0..10_000).map(|n| format!("<outline text='' xmlUrl='http://e.org/{n}'/>")).collect();
    let marked: String = (0..100_000).map(|n| format!("{n},")).collect();
    let marked = format!("<outline xmlUrl='http://e.org/' category='{marked}'/>");
    for list in [many, nameless, long] {
        let read = body(&format!("{list}{feeds}{marked}"));
        assert_eq!(read.outlines.len(), 10_001);
        let n_bytes: usize = read.outlines.iter().flat_map(|o| &o.tags).map(String::len).sum();
        assert!(n_bytes < 4_000_000, "{n_bytes}");
    }
}

#[test]
fn a_title_with_characters_that_xml_forbids_breaks_no_list() {
    let bad = "a\u{0}b\u{1b}c\u{fffe}d\u{ffff}e";
    let outline = Outline {
        url: format!("http://e.org/{bad}"),
        title: Some(bad.to_owned()),
        site: Some(bad.to_owned()),
        tags: vec![bad.to_owned(), format!("second {bad}")],
    };
    let text = write(bad, &[outline]);
    assert!(!text.contains(['\u{0}', '\u{1b}', '\u{fffe}', '\u{ffff}']), "{text:?}");
    let read = read(text.as_bytes()).unwrap();
    assert_eq!((read.title.as_deref(), read.skipped.len()), (Some("abcde"), 0));
    assert_eq!(read.outlines[0].title.as_deref(), Some("abcde"));
}

#[test]
fn a_site_that_runs_something_is_left_out_of_a_list() {
    let site = |site: &str| {
        let url = "http://e.org/f".to_owned();
        let outline = Outline { url, title: None, site: Some(site.to_owned()), tags: Vec::new() };
        read(write("t", &[outline]).as_bytes()).unwrap().outlines[0].site.clone()
    };
    for harmless in ["https://e.org/", "/"] {
        assert_eq!(site(harmless).as_deref(), Some(harmless));
    }
    for hostile in ["javascript:alert(1)", " JavaScript:alert(1)", "data:text/html,x"] {
        assert_eq!(site(hostile), None, "{hostile}");
    }
}
