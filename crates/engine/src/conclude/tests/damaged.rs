//! Broken documents that yield nothing, and empty feeds that are well-formed.

use store::PollContent;

use super::*;

/// Parses a text and compares it with the window of `input`.
fn read(input: &PollInput, text: &str) -> JudgedReading {
    let document = parse::document(text.as_bytes(), None, None, &parse::Limits::default());
    let document = document.expect("a feed");
    let document = ReadDocument {
        is_cut_off: document.is_cut_off,
        is_damaged: document.is_damaged,
        items: identify(document.items, &input.document.window),
        warnings: document.warnings,
        ..read_document()
    };
    observed(&input.document.window, document)
}

#[test]
fn a_broken_document_without_items_moves_neither_validators_nor_window() {
    let broken = "<rss version='2.0'><chann\u{1}el <<<<";
    let empty = "<rss version='2.0'><channel><title>t</title></channel></rss>";
    let mut input = input();
    let first = run(&input, read(&input, broken), |_| ());
    assert_eq!(first.record.outcome, Outcome::Seen, "nothing was there before");
    let none = StoredValidators::default();
    assert_eq!(first.record.validators(), Some(&none), "a 304 would hide the rest");

    let before = run(&input, document(&["a", "b"]), |_| ());
    input.document.window =
        before.record.document().and_then(|d| d.entries.window.clone()).expect("two items");
    let damaged = run(&input, read(&input, broken), |_| ());
    assert_eq!(damaged.record.outcome, Outcome::Damaged);
    assert_eq!(damaged.answer.outcome, Outcome::Damaged);
    assert_eq!(damaged.record.content, PollContent::Nothing);
    assert_eq!(damaged.record.decision.failures, input.history.failures + 1, "it backs off");
    assert!(damaged.record.problem.is_some_and(|problem| problem.error.contains("damaged")));
    assert!(!damaged.record.warnings.is_empty());

    let honest = run(&input, read(&input, empty), |_| ());
    assert_eq!(honest.record.outcome, Outcome::Seen, "an empty feed is not damaged");
    assert!(honest.record.document().is_some_and(|d| d.entries.window.is_some()));
}
