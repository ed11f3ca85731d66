//! Subscription lists: real ones with all their faults, tags from folders, and a round trip.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::{Instance, path_text};

/// The folder of real lists next to the repository.
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/opml");

const LIST: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0"><head><title>Mine</title></head><body>
  <outline text="News"><outline text="World">
    <outline type="rss" text="A &amp; B" title="A &amp; B"
      xmlUrl="http://a.example/feed?x=1&amp;y=2" htmlUrl="http://a.example/"/>
  </outline>
    <outline type="rss" text="C" xmlUrl="https://c.example/rss"/>
  </outline>
  <outline type="rss" text="Ünïcode" xmlUrl="https://d.example/atom.xml"/>
  <outline type="rss" text="twice" xmlUrl="https://c.example/rss"/>
  <outline type="rss" text="no scheme of ours" xmlUrl="ftp://e.example/rss"/>
  <outline type="rss" text="nothing" xmlUrl=""/>
  <outline type="link" text="a page" url="http://f.example/"/>
</body></opml>
"#;

fn names(feeds: &[Value]) -> BTreeSet<(String, String)> {
    feeds.iter().map(|f| (f["url"].as_str().unwrap().to_owned(), f["tags"].to_string())).collect()
}

#[test]
fn folders_become_tags_and_what_was_skipped_is_reported() {
    let instance = Instance::new();
    let ended = instance.import(LIST).ok();
    let told = format!("{}{}", ended.stdout, ended.stderr);
    assert!(told.contains("ftp://e.example/rss"), "the skipped one is named: {told}");
    let feeds = names(&instance.feeds());
    let expect = [
        ("http://a.example/feed?x=1&y=2", r#"["News/World"]"#),
        ("https://c.example/rss", r#"["News"]"#),
        ("https://d.example/atom.xml", "[]"),
    ];
    let expect = expect.map(|(u, t)| (u.to_owned(), t.to_owned()));
    assert_eq!(feeds, BTreeSet::from(expect));
    assert!(instance.feeds().iter().all(|f| f["last_poll"].is_null()), "import polls nothing");

    let again = instance.import(LIST).ok();
    assert_eq!(instance.feeds().len(), 3, "importing twice adds nothing: {again:?}");
}

#[test]
fn a_list_that_was_exported_and_imported_is_the_same() {
    let first = Instance::new();
    first.import(LIST).ok();
    let exported = first.run(&["export"]).ok().stdout;
    let second = Instance::new();
    second.import(&exported).ok();
    assert_eq!(names(&second.feeds()), names(&first.feeds()));
    assert_eq!(second.run(&["export"]).ok().stdout, exported);
    let json = first.run(&["export", "--format", "json"]).ok().json();
    assert!(json.to_string().contains("https://d.example/atom.xml"), "{json}");
}

#[test]
fn a_file_that_is_no_list_is_refused_with_its_place() {
    let instance = Instance::new();
    let file = instance.write("page.html", "<html><body>no list</body></html>");
    instance.run(&["import", path_text(&file)]).says(2, &["page.html"]);
    instance.run(&["import", "missing.opml"]).says(2, &["missing.opml"]);
}

fn lists(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|e| e.unwrap().path()) {
        if path.is_dir() {
            lists(&path, found);
        } else if path.extension().is_some_and(|e| e == "opml" || e == "xml") {
            found.push(path);
        }
    }
}

/// Returns the addresses in a list, read as text, because many lists are not valid XML.
fn named(list: &str) -> BTreeSet<String> {
    let lower = list.to_ascii_lowercase();
    let mut urls = BTreeSet::new();
    for (at, _) in lower.match_indices("xmlurl=") {
        let rest = &list[at + "xmlurl=".len()..];
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else { continue };
        let Some(value) = rest[1..].split(quote).next() else { continue };
        let value = value.replace("&amp;", "&").replace("&quot;", "\"").replace("&#38;", "&");
        let Ok(mut url) = url::Url::parse(value.trim()) else { continue };
        if matches!(url.scheme(), "http" | "https") {
            url.set_fragment(None);
            urls.insert(url.to_string());
        }
    }
    urls
}

#[test]
fn every_real_list_is_imported_whole() {
    let mut files = Vec::new();
    lists(Path::new(SHARED), &mut files);
    files.sort();
    if files.is_empty() {
        eprintln!("skipped: no real subscription lists next to the repository");
    }
    let mut all = BTreeSet::new();
    let together = Instance::new();
    for file in &files {
        let list = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
        let expect = named(&list);
        let instance = Instance::new();
        instance.run(&["import", path_text(file)]).ok();
        let got: BTreeSet<String> =
            instance.feeds().iter().map(|f| f["url"].as_str().unwrap().to_owned()).collect();
        let missing: Vec<_> = expect.difference(&got).collect();
        assert!(missing.is_empty(), "{}: not imported: {missing:?}", file.display());
        let invented: Vec<_> =
            got.difference(&expect).filter(|u| !list.contains(u.as_str())).collect();
        assert!(invented.len() * 20 <= got.len(), "{}: from nowhere: {invented:?}", file.display());
        together.run(&["import", path_text(file)]).ok();
        all.extend(got);
    }
    if !files.is_empty() {
        assert_eq!(together.feeds().len(), all.len(), "all lists in one folder");
    }
}
