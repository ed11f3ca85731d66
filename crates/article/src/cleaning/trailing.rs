//! Removes the end of a text that is not the article: tags, related articles, the next page, a
//! sentence about the author, a notice of copyright.

use dom_query::NodeRef;

use super::blocks::{TextBlock, blocks};
use super::folded;

/// The largest share of the text that may go. A page of links is not an article with a tail.
const SHARE_MAX: f64 = 0.3;
/// A block with this share of characters in links leads elsewhere.
const LINKS_MIN: f64 = 0.5;
/// Blocks that may go.
const BLOCKS_MAX: usize = 60;

/// Bytes of a name that is looked for in a sentence about its bearer.
const NAME_BYTES_MIN: usize = 6;
/// Characters of a notice, and of a text about the author.
const NOTICE_CHARS_MAX: usize = 250;
const ABOUT_CHARS_MAX: usize = 500;

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

pub fn remove(root: &NodeRef<'_>, byline: Option<&str>) {
    let all = blocks(root);
    let byline = byline.map(folded).filter(|byline| byline.len() >= NAME_BYTES_MIN);
    let total: usize = all.iter().map(|block| block.n_chars).sum();
    let mut n_left = (total as f64 * SHARE_MAX) as usize;
    let mut first_out = all.len();
    for (at, block) in all.iter().enumerate().rev().take(BLOCKS_MAX) {
        let is_end = leads_elsewhere(block)
            || is_notice(block)
            || byline.as_ref().is_some_and(|byline| is_about(block, byline));
        if !is_end || block.n_chars > n_left {
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

/// Whether a block says who owns the text, or is an address of mail.
fn is_notice(block: &TextBlock<'_>) -> bool {
    if block.n_chars > NOTICE_CHARS_MAX || block.is_set_apart() {
        return false;
    }
    let line = block.line.to_lowercase();
    let is_address = !line.contains(' ') && line.contains('@') && line.contains('.');
    ["©", "copyright ", "™ & ©"].iter().any(|sign| line.starts_with(sign))
        || line.contains("all rights reserved")
        || line.contains("alle rechte vorbehalten")
        || line.contains("tous droits réservés")
        || line.contains("todos los derechos reservados")
        || is_address
}

/// Whether a block speaks of the author: it begins with the name and goes on in lower case.
fn is_about(block: &TextBlock<'_>, byline: &str) -> bool {
    if block.n_chars > ABOUT_CHARS_MAX || block.is_set_apart() {
        return false;
    }
    // “Jane Roe is a reporter”, not “Jane Roe, 43, fell”: what follows is a verb of being.
    const IS: [&str; 12] =
        ["is", "was", "has", "writes", "ist", "schreibt", "est", "es", "è", "é", "jest", "är"];
    let words: Vec<&str> = block.line.split_whitespace().collect();
    let is_verb = |word: &str| IS.contains(&word);
    let Some(verb) = words.iter().take(8).position(|word| is_verb(word)) else { return false };
    folded(&words[..verb].concat()) == byline
}

fn lists_sources(head: &TextBlock<'_>) -> bool {
    let line = head.line.to_lowercase();
    let line = line.trim_matches(|c: char| !c.is_alphanumeric());
    SOURCES.iter().any(|word| line == *word || line.starts_with(&format!("{word}[")))
}
