//! Replays sequences of snapshots, real and synthetic. The expected result is computed here by the
//! identity rule alone: every distinct item once, none twice, and the right suspected misses.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::documents::rss_of;
use crate::program::Instance;
use crate::publisher::Publisher;

/// The folder of real snapshots next to the repository.
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/feeds/replay");

/// The expected answer of a poll.
#[derive(Debug, PartialEq, Eq)]
pub struct Truth {
    pub new: usize,
    pub suspected_miss: bool,
}

/// Returns the text of the first `<name …>…</name>` in an item.
fn field(item: &str, name: &str) -> Option<String> {
    let open = item
        .match_indices(&format!("<{name}"))
        .map(|(at, _)| at)
        .find(|at| matches!(item.as_bytes().get(at + name.len() + 1), Some(b'>' | b' ')))?;
    let start = open + item[open..].find('>')? + 1;
    let end = start + item[start..].find(&format!("</{name}>"))?;
    let text = item[start..end].trim();
    let text = text.strip_prefix("<![CDATA[").and_then(|t| t.strip_suffix("]]>")).unwrap_or(text);
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&#038;", "&");
    Some(text.replace("&amp;", "&").trim().to_owned()).filter(|t| !t.is_empty())
}

/// Returns the keys of a document: the id; id and link if one id stands for several links; else the
/// link; else the text.
fn keys(document: &str) -> HashSet<String> {
    let items: Vec<&str> = document
        .split("<item>")
        .skip(1)
        .map(|rest| rest.split("</item>").next().unwrap_or(rest))
        .collect();
    let mut links: HashMap<String, HashSet<Option<String>>> = HashMap::new();
    for item in &items {
        if let Some(id) = field(item, "guid") {
            links.entry(id).or_default().insert(field(item, "link"));
        }
    }
    items
        .iter()
        .map(|item| match (field(item, "guid"), field(item, "link")) {
            (Some(id), link) if links[&id].len() > 1 => format!("both {id} {link:?}"),
            (Some(id), _) => format!("id {id}"),
            (None, Some(link)) => format!("link {link}"),
            (None, None) => {
                format!("text {:?} {:?}", field(item, "title"), field(item, "description"))
            }
        })
        .collect()
}

pub fn truth(documents: &[String]) -> (Vec<Truth>, usize) {
    let mut known: HashSet<String> = HashSet::new();
    let mut window: HashSet<String> = HashSet::new();
    let mut answers = Vec::new();
    for document in documents {
        let now = keys(document);
        let new = now.difference(&known).count();
        let suspected_miss = !window.is_empty() && !now.is_empty() && window.is_disjoint(&now);
        answers.push(Truth { new, suspected_miss });
        known.extend(now.iter().cloned());
        if !now.is_empty() {
            window = now;
        }
    }
    (answers, known.len())
}

#[track_caller]
fn replay(name: &str, documents: &[String]) {
    let (expected, total) = truth(documents);
    let publisher = Publisher::start(1);
    let url = publisher.url("/feed");
    let instance = Instance::new();
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    for (i, (document, expect)) in documents.iter().zip(&expected).enumerate() {
        publisher.set("/feed", document);
        let answer = instance.poll(&url);
        let outcome = answer["outcome"].as_str().unwrap_or("");
        assert!(matches!(outcome, "seen" | "unchanged"), "{name}, snapshot {i}: {answer}");
        let got = Truth {
            new: usize::try_from(answer["new"].as_u64().unwrap()).unwrap(),
            suspected_miss: answer["suspected_miss"].as_bool().unwrap(),
        };
        assert_eq!(&got, expect, "{name}, snapshot {i}: {answer}");
        // The same document again brings no entry and no suspected miss.
        if i % 10 == 0 {
            let again = instance.poll(&url);
            assert_eq!((&again["outcome"], again["new"].as_u64()), (&"unchanged".into(), Some(0)));
        }
    }
    let entries = instance.entries();
    assert_eq!(entries.len(), total, "{name}: every distinct item exactly once");
    let ids: HashSet<u64> = entries.iter().map(|e| e["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), total, "{name}: ids are not reused");
    assert_eq!(instance.feed()["entries"].as_u64(), Some(total as u64));
}

pub fn folders() -> Vec<PathBuf> {
    let Ok(list) = std::fs::read_dir(SHARED) else {
        eprintln!("skipped: no real snapshots next to the repository");
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = list.map(|e| e.unwrap().path()).collect();
    folders.sort();
    folders
}

pub fn snapshots(folder: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files.iter().map(|f| String::from_utf8_lossy(&std::fs::read(f).unwrap()).into_owned()).collect()
}

#[test]
fn real_sequences_give_every_item_once_and_the_right_suspected_misses() {
    for folder in folders() {
        let documents = snapshots(&folder);
        assert!(documents.len() > 1, "{} holds no sequence", folder.display());
        replay(&folder.file_name().unwrap().to_string_lossy(), &documents);
    }
}

#[test]
fn windows_that_slide_jump_empty_and_return_are_read_right() {
    let windows = [0..5, 2..7, 2..7, 20..25, 0..0, 20..25, 21..26, 0..5, 26..31, 40..40, 41..42];
    let documents: Vec<String> = windows.into_iter().map(|w| rss_of("slide", w)).collect();
    replay("slide", &documents);
}

#[test]
fn edited_titles_and_touched_dates_are_no_new_entries() {
    let first = rss_of("edit", 0..4);
    let edited = first.replace("Item 2 of edit", "Item 2, corrected");
    let touched = edited.replace("2024", "2025");
    replay("edit", &[first, edited, touched]);
}

#[test]
fn items_without_a_guid_are_known_by_link_and_then_by_text() {
    let without_guid = |document: String| {
        let parts: Vec<&str> = document.split("<guid isPermaLink=\"false\">").collect();
        let cut =
            |part: &&str| part.split_once("</guid>").map_or(*part, |(_, rest)| rest).to_owned();
        parts.iter().map(cut).collect::<String>()
    };
    let without_link = |document: String| {
        document.replace("<link>", "<comments>").replace("</link>", "</comments>")
    };
    let windows = [0..4, 1..5, 9..12, 8..12];
    let by_link: Vec<String> =
        windows.iter().map(|w| without_guid(rss_of("bare", w.clone()))).collect();
    replay("by link", &by_link);
    let by_text: Vec<String> = by_link.iter().map(|d| without_link(d.clone())).collect();
    replay("by text", &by_text);
}

#[test]
fn one_guid_for_several_links_stands_for_several_entries() {
    let shared = |w| {
        let document = rss_of("twin", w);
        document.replace("twin-1<", "same<").replace("twin-2<", "same<").replace("twin-3<", "same<")
    };
    replay("twin", &[shared(0..4), shared(0..5)]);
}
