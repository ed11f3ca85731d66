//! Removes the end of a text that is not the article: tags, related articles, the next page, a
//! sentence about the author, a notice of copyright.

use dom_query::NodeRef;

use super::blocks::{TextBlock, blocks};
use super::folded;
use super::leading::is_date;
use super::lines::{is_age, is_button, is_count, is_handle, is_picture_number};

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

/// Words before a row of tags.
const TAGS: [&str; 20] = [
    "tags",
    "tag",
    "tagged",
    "topics",
    "keywords",
    "filed under",
    "categories",
    "more on",
    "schlagwörter",
    "schlagworte",
    "themen",
    "mots-clés",
    "etiquetas",
    "temas",
    "argomenti",
    "trefwoorden",
    "теги",
    "標籤",
    "标签",
    "タグ",
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
            || is_rest(block)
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
    ["©", "copyright ", "™ & ©"].iter().any(|sign| line.starts_with(sign))
        || line.contains("all rights reserved")
        || line.contains("alle rechte vorbehalten")
        || line.contains("tous droits réservés")
        || line.contains("todos los derechos reservados")
        || line.contains("все права защищены")
        || line.contains("版权所有")
        || line.contains("ⓒ")
}

/// Whether a block is a date, an age, a number of comments, a button, a handle or a row of tags.
fn is_rest(block: &TextBlock<'_>) -> bool {
    if block.n_chars > NOTICE_CHARS_MAX || block.is_set_apart() || block.is_heading() {
        return false;
    }
    let line = block.line.as_str();
    let is_fact = is_age(line) || is_count(line) || is_picture_number(line) || is_date(block);
    let lower = line.to_lowercase();
    let is_tags = TAGS.iter().any(|word| {
        lower.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with([':', '：']))
    });
    is_fact || is_button(line) || is_handle(line) || is_tags
}

/// Whether a block speaks of the author: it begins with the name and goes on in lower case.
fn is_about(block: &TextBlock<'_>, byline: &str) -> bool {
    if block.n_chars > ABOUT_CHARS_MAX || block.is_set_apart() {
        return false;
    }
    // “Jane Roe is a reporter”, not “Jane Roe, 43, fell”: what follows is a verb of being.
    const IS: &str = "is was has writes works covers reports lives teaches edits currently ist war \
        schreibt arbeitet berichtet leitet lebt est écrit travaille couvre es escribe trabaja è \
        scrive lavora é escreve trabalha schrijft werkt jest pisze är skriver";
    let words: Vec<&str> = block.line.split_whitespace().collect();
    let is_verb = |word: &str| IS.split_whitespace().any(|verb| verb == word);
    let Some(verb) = words.iter().take(8).position(|word| is_verb(word)) else { return false };
    folded(&words[..verb].concat()) == byline
}

fn lists_sources(head: &TextBlock<'_>) -> bool {
    let line = head.line.to_lowercase();
    let line = line.trim_matches(|c: char| !c.is_alphanumeric());
    SOURCES.iter().any(|word| line == *word || line.starts_with(&format!("{word}[")))
}
