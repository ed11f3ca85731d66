//! The page about the five documents: the commands that it lists run in a clone, and the parts that
//! it lists are those of the documents.

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

#[test]
fn every_figure_and_table_has_a_row() {
    let page = page();
    for (document, figures) in [("000", 12), ("001", 2), ("002", 13), ("004", 6)] {
        let rows = part(&page, document).join("\n");
        for figure in 1..=figures {
            assert!(names(&rows, "figure", figure), "figure {figure} of {document}");
        }
    }
    let rows = part(&page, "001").join("\n");
    assert!((1..=2).all(|table| names(&rows, "table", table)));
    let rows = part(&page, "002").join("\n");
    assert!((1..=2).all(|table| names(&rows, "table", table)));
}

/// Whether a text names a figure by itself, in a pair or in a range.
fn names(text: &str, what: &str, number: u32) -> bool {
    let text = text.to_lowercase();
    text.split(what).skip(1).any(|after| {
        let after = after.strip_prefix('s').unwrap_or(after);
        let named: String =
            after.chars().take_while(|c| c.is_ascii_digit() || " ,andtob".contains(*c)).collect();
        let numbers: Vec<u32> = named
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|digits| digits.parse().ok())
            .collect();
        let in_range = named.contains(" to ")
            && numbers.len() >= 2
            && (numbers[0]..=numbers[1]).contains(&number);
        numbers.contains(&number) || in_range
    })
}
