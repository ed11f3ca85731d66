//! Removes the links at the end of a text: tags, related articles, the next page.

use dom_query::NodeRef;

use super::blocks::{TextBlock, blocks};

/// The largest share of the text that may go. A page of links is not an article with a tail.
const SHARE_MAX: f64 = 0.3;
/// A block with this share of characters in links leads elsewhere.
const LINKS_MIN: f64 = 0.5;
/// Blocks that may go.
const BLOCKS_MAX: usize = 60;

/// Headings of lists of links that belong to the text.
const SOURCES: [&str; 17] = [
    "references",
    "notes",
    "footnotes",
    "sources",
    "external links",
    "bibliography",
    "citations",
    "further information",
    "resources",
    "links",
    "einzelnachweise",
    "weblinks",
    "quellen",
    "literatur",
    "références",
    "notes et références",
    "referencias",
];

pub fn remove(root: &NodeRef<'_>) {
    let all = blocks(root);
    let total: usize = all.iter().map(|block| block.n_chars).sum();
    let mut n_left = (total as f64 * SHARE_MAX) as usize;
    let mut first_out = all.len();
    for (at, block) in all.iter().enumerate().rev().take(BLOCKS_MAX) {
        if !leads_elsewhere(block) || block.n_chars > n_left {
            break;
        }
        n_left -= block.n_chars;
        first_out = at;
    }
    let head = all[..first_out].iter().rev().find(|block| block.is_heading());
    if first_out == 0 || head.is_some_and(lists_sources) {
        return;
    }
    // A heading above what goes has nothing left to say.
    if first_out < all.len() && all[first_out - 1].is_heading() && first_out > 1 {
        first_out -= 1;
    }
    for block in &all[first_out..] {
        block.node.remove_from_parent();
    }
}

fn leads_elsewhere(block: &TextBlock<'_>) -> bool {
    block.link_density() > LINKS_MIN && !block.is_set_apart()
}

fn lists_sources(head: &TextBlock<'_>) -> bool {
    let line = head.line.to_lowercase();
    let line = line.trim_matches(|c: char| !c.is_alphanumeric());
    SOURCES.iter().any(|word| line == *word || line.starts_with(&format!("{word}[")))
}
