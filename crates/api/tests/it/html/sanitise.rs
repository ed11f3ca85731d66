//! Compares the sanitiser with feedparser's own sanitiser tests. Nothing dangerous may be left, and
//! each difference is listed with a reason.

mod danger;
mod expectation;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use api::sanitise;

use danger::dangers;
use expectation::Expectation;

/// A small part of the corpus is in the repository; the whole corpus is used if it is present.
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sanitise");
const WHOLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/feeds/kurtmckee__feedparser/tests/wellformed/sanitize"
);
/// `NAME  reason`: files whose result differs on purpose.
const DIFFERENCES: &str = include_str!("../../data/sanitise-differences.txt");

fn documents(folder: &str) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(folder) else {
        eprintln!("{folder} is not here: skipped");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = found.map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "xml"));
    files.sort();
    files
}

fn parsed(file: &Path) -> parse::Document {
    let bytes = fs::read(file).unwrap();
    let document = parse::document(&bytes, None, None, &parse::Limits::default());
    document.unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Forces HTML: a text without a tag would become paragraphs.
fn clean(text: &str) -> String {
    let shown = sanitise::html(&format!("<br>{text}"), None, None);
    shown.strip_prefix("<br>").unwrap_or_else(|| panic!("{shown}")).to_owned()
}

/// Normalises white space, which has no meaning in HTML except as a separator.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn name(file: &Path) -> &str {
    file.file_name().unwrap().to_str().unwrap()
}

fn nothing_dangerous_is_left_in(folder: &str) -> usize {
    let files = documents(folder);
    for file in &files {
        for item in parsed(file).items {
            for text in [&item.title, &item.summary, &item.content].into_iter().flatten() {
                for shown in [sanitise::html(text, None, None), clean(text)] {
                    let found = dangers(&shown);
                    assert!(found.is_empty(), "{}: {found:?} in {shown}", name(file));
                    assert_eq!(clean(&shown), shown, "{} is not settled", name(file));
                }
            }
        }
    }
    files.len()
}

#[test]
fn nothing_dangerous_is_left() {
    assert!(nothing_dangerous_is_left_in(SAMPLE) >= 30);
    println!("whole corpus: {} files", nothing_dangerous_is_left_in(WHOLE));
}

/// The result of comparing one folder with the expectations in its files.
#[derive(Debug, Default)]
struct Comparison {
    same: usize,
    /// Expectations about fields that the page never shows.
    not_shown: usize,
    /// Name and actual result.
    differing: BTreeMap<String, String>,
}

fn compare(folder: &str) -> Comparison {
    let mut comparison = Comparison::default();
    for file in documents(folder) {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        let wanted = Expectation::read(&text).and_then(|e| Some((e.field(&parsed(&file))?, e)));
        let Some((value, expectation)) = wanted else {
            comparison.not_shown += 1;
            continue;
        };
        // Both sides pass our list. The remaining differences are texts that only one side allows
        // or repairs.
        let (ours, theirs) = (folded(&clean(&value)), folded(&clean(&expectation.value)));
        if ours == theirs {
            comparison.same += 1;
        } else {
            comparison.differing.insert(name(&file).to_owned(), format!("{ours} ≠ {theirs}"));
        }
    }
    comparison
}

fn deliberate() -> Vec<&'static str> {
    let rows = DIFFERENCES.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty());
    rows.map(|row| row.split_whitespace().next().unwrap()).collect()
}

#[test]
fn differences_from_feedparser_are_deliberate() {
    for folder in [SAMPLE, WHOLE] {
        let found = compare(folder);
        println!(
            "{folder}: {} same, {} differ, {} about fields not shown",
            found.same,
            found.differing.len(),
            found.not_shown
        );
        let listed = deliberate();
        for (file, what) in &found.differing {
            assert!(listed.contains(&file.as_str()), "{file}: {what}");
        }
        if !documents(folder).is_empty() && folder == WHOLE {
            for listed_name in listed {
                let differs = found.differing.contains_key(listed_name);
                assert!(differs, "{listed_name} no longer differs: take it off the list");
            }
        }
    }
}
