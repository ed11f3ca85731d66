//! The page about the five documents: the commands that it lists run in a clone, and the parts that
//! it lists are those of the documents.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::experiments::{REPOSITORY, clone, run_in};
use crate::program::Instance;

const PAGE: &str = "docs/papers.md";

fn page() -> String {
    fs::read_to_string(Path::new(REPOSITORY).join(PAGE)).unwrap()
}

/// The lines of one part of the page, from its heading to the next.
fn part<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = page.lines().skip_while(|line| !line.starts_with(&format!("## {heading}")));
    lines.skip(1).take_while(|line| !line.starts_with("## ")).collect()
}

#[test]
fn the_commands_of_the_page_run_in_a_clone() {
    let page = page();
    let commands: Vec<&str> = part(&page, "Commands that a test runs")
        .into_iter()
        .filter_map(|line| line.strip_prefix("- `tidings ")?.strip_suffix('`'))
        .collect();
    assert!(commands.len() >= 5, "{commands:?}");
    let instance = Instance::new();
    let root = clone(&instance);
    for command in commands {
        let args: Vec<&str> = command.split(' ').collect();
        let (ended, said) = run_in(&root, &instance, &args);
        assert_eq!(ended.status.code(), Some(0), "{command}: {said}");
    }
}

#[test]
fn every_definition_of_a_document_is_on_the_page() {
    let page = page();
    let folder = Path::new(REPOSITORY).join("experiments/definitions");
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        let source = text.lines().find_map(|line| line.strip_prefix("source = \"")).unwrap();
        let name = file.file_name().into_string().unwrap().replace(".toml", "");
        // Definitions of our own work cite its note instead.
        if source.starts_with("00") && !name.starts_with("learning-share-") {
            assert!(page.contains(&format!("`{name}`")), "{name} ({source}) is not on {PAGE}");
        }
    }
}

/// The sections, figures and tables of each document, written as in the rows of the page.
const PARTS: [(&str, &str); 5] = [
    ("000", "1 to 3, 4.1, 4.2, 5, 6.1 to 6.3, 7 figures 1 to 12"),
    ("001", "1 to 6 figures 1, 2 tables 1, 2"),
    ("002", "1.1, 1.2, 2.1, 2.2, 3.1, 3.2.1, 3.2.2, 4.1 to 4.6, 5, 6 figures 1 to 13 tables 1, 2"),
    (
        "003",
        "1.1 to 1.6, 2.1 to 2.3, 2.4.1 to 2.4.5, 2.5.1 to 2.5.8, 2.6.1 to 2.6.3, \
         2.7.1 to 2.7.6, 2.8, 3.1 to 3.6, 3.7.1 to 3.7.8, 3.8, 4.1, 4.2.1 to 4.2.4, \
         4.3.1 to 4.3.7, 4.4.1 to 4.4.3, 4.5, 5.1 to 5.3, 5.4.1 to 5.4.3, 5.5, 6 \
         figures 1.1, 1.2, 2.1 to 2.12, 3.1 to 3.13, 4.1 to 4.15, 5.1 to 5.9, A.1 to A.3 \
         tables 2.1, 2.2, 3.1, 3.2, 4.1 to 4.12, 5.1 to 5.4, A.1 to A.6",
    ),
    ("004", "I, II, III, IV, V figures 1 to 6"),
];

#[test]
fn every_section_figure_and_table_has_a_row() {
    let page = page();
    for (document, parts) in PARTS {
        let rows = part(&page, document).into_iter().filter_map(|row| row.split('|').nth(1));
        let listed: HashSet<Part> = rows.flat_map(parts_of).collect();
        for wanted in parts_of(parts) {
            // A row for a section stands for its subsections too, but not one for a chapter.
            let (what, name) = &wanted;
            let parent = name.rsplit_once('.').filter(|_| what == "section");
            let parent = parent.map(|(parent, _)| (what.clone(), parent.to_owned()));
            let parent = parent.filter(|(_, name)| name.contains('.'));
            let is_listed = listed.contains(&wanted) || parent.is_some_and(|p| listed.contains(&p));
            assert!(is_listed, "{what} {name} of {document} is not on {PAGE}");
        }
    }
    assert_eq!(parts_of("no parts, 7b"), []);
    let pairs = parts_of("2.9 to 2.11, figures 3–4");
    let names: Vec<&str> = pairs.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["2.9", "2.10", "2.11", "3", "4"]);
}

/// Section, figure or table, and its number.
type Part = (String, String);

/// Returns the parts that a text names, by themselves or in ranges. Numbers are those of sections
/// until the text names figures or tables.
fn parts_of(text: &str) -> Vec<Part> {
    let text = text.replace('–', " to ").replace([',', ';', ':'], " ");
    let mut parts: Vec<Part> = Vec::new();
    let (mut what, mut is_range) = ("section", false);
    for word in text.split_whitespace() {
        match word.trim_end_matches('s') {
            "figure" => what = "figure",
            "table" => what = "table",
            "to" => {
                is_range = true;
                continue;
            }
            name if is_number(name) => {
                let before = parts.last().filter(|_| is_range).map(|(_, name)| split(name));
                let (chapter, number) = split(name);
                let first = before.filter(|(c, _)| *c == chapter).map_or(number, |(_, n)| n + 1);
                let range = (first..=number).map(|n| (what.to_owned(), format!("{chapter}{n}")));
                parts.extend(range);
                if number == 0 {
                    parts.push((what.to_owned(), name.to_owned()));
                }
            }
            _ => {}
        }
        is_range = false;
    }
    parts.retain(|(_, name)| name != "0");
    parts
}

fn is_number(word: &str) -> bool {
    let is_roman = !word.is_empty() && word.chars().all(|c| "IVX".contains(c));
    let plain = word.strip_prefix("A.").unwrap_or(word);
    let is_digits = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
    let is_dotted = plain.split('.').all(is_digits);
    is_roman || is_dotted
}

/// Splits a number into the part before its last number, and that. Roman numbers have none.
fn split(name: &str) -> (String, u32) {
    let at = name.rfind('.').map_or(0, |dot| dot + 1);
    (name[..at].to_owned(), name[at..].parse().unwrap_or(0))
}
