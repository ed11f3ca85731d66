//! Pages that are made to exhaust the program. Each is either read or refused; none kills the
//! process. The threads of these tests have stacks of 2 MB, a quarter of those of the live program.
//!
//! `cargo run --release -p article --example hostile` measures what they cost.

#[path = "../../examples/hostile/pages.rs"]
mod pages;

use pages::HostilePage;

fn survives(pages: Vec<HostilePage>) {
    for page in pages {
        let result = article::extract(&(page.make)(), None, None, None);
        assert_ne!(result, Err(article::NoArticle::Internal), "{}: a library panicked", page.name);
    }
}

#[test]
fn nesting() {
    survives(pages::nesting());
}

#[test]
fn attributes() {
    survives(pages::attributes());
}

#[test]
fn masses() {
    survives(pages::masses());
}

#[test]
fn linked_data() {
    survives(pages::linked_data());
}

#[test]
fn bytes_that_are_not_a_page() {
    survives(pages::noise());
}
