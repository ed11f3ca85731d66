//! Every example of the manual parses, and every clause of the language has an example.

use std::path::Path;

fn examples() -> Vec<String> {
    examples_of("reference/queries.md")
}

fn examples_of(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```query\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_examples_of_other_pages_are_read() {
    for page in ["tutorial.md", "how-to/publish-a-query.md", "how-to/receive-webhooks.md"] {
        let examples = examples_of(page);
        assert_eq!(examples.len(), 1, "{page}");
        query::parse(&examples[0]).unwrap_or_else(|faults| panic!("{page}: {}", faults[0]));
    }
}

#[test]
fn the_examples_of_rules_are_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/rules.md");
    let text = std::fs::read_to_string(path).unwrap();
    let examples: Vec<&str> =
        text.split("```rule\n").skip(1).filter_map(|block| block.split("```").next()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        query::parse_rule(example).unwrap_or_else(|fault| panic!("{example}: {fault}"));
    }
}

#[test]
fn the_examples_of_the_manual_are_read() {
    let examples = examples();
    assert!(examples.len() >= 20, "{} examples", examples.len());
    for example in &examples {
        if let Err(faults) = query::parse(example) {
            panic!("{example}\n{}", faults[0]);
        }
    }
}

#[test]
fn the_examples_of_the_manual_fit_together() {
    let file = examples().join(";\n");
    let statements = query::parse(&file).unwrap();
    let faults = query::Catalog::new().apply(&statements).err().unwrap_or_default();
    let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn every_construct_has_an_example() {
    let all = examples().join("\n");
    for construct in [
        "CREATE OR REPLACE FEED",
        "DROP FEED",
        "IF EXISTS",
        "TAG \"",
        "ALL FEEDS",
        "RETURN FEED",
        "ITEM CONTAINS",
        "TITLE",
        "SUMMARY",
        "CONTENT",
        "AUTHOR",
        "CATEGORY",
        "LINK",
        "LANGUAGE",
        "FEED TAGGED",
        "FEED CONTAINS",
        "PUBLISHED >=",
        "PUBLISHED WITHIN",
        "NEAR ",
        "NEAR/",
        "*\"",
        "MATCHES /",
        "/i",
        "AND NOT",
        "NOT CONTAINS",
        "!=",
        "JOIN",
        "ON TITLE SIMILAR",
        "ON LINK",
        "DISTINCT ON",
        "COUNT >=",
        "WINDOW",
        "LAST ",
        "TITLED",
        "PUBLISH\n",
        "PUBLISH BY SECRET LINK",
        "PRIVATE",
        "TO WEBHOOK",
        "SIGNED BY",
        "TO FILE",
        "ROLLING EVERY",
        "TO EMAIL",
        "AT \"",
        "--",
    ] {
        assert!(all.contains(construct), "no example for {construct}");
    }
}
