//! Removes blocks whose words say that they are not the article: “Read more: …”, “Related stories”
//! with a list of links, “Sign up for our newsletter”.

mod appendix;
pub mod phrases;

use std::collections::HashSet;

use dom_query::{NodeId, NodeRef};

use super::CHARS_MIN;
use super::blocks::{TextBlock, blocks};
use super::lines::is_picture_number;
use phrases::{
    ABOUT_PAGE, ACTIONS, ADS, HEADS, LEAD_INS, OBJECTS, SURE_HEADS, has, phrases, place,
};

/// Bytes of a request to subscribe or follow. Scripts without spaces need fewer characters.
const REQUEST_BYTES_MAX: usize = 400;
/// Bytes of a line about the page itself.
const ABOUT_PAGE_BYTES_MAX: usize = 300;
/// Characters of the text between the links under a heading such as “Related stories”.
const CARD_CHARS_MAX: usize = 250;
/// Characters of a line that leads to another article.
const LEAD_IN_CHARS_MAX: usize = 300;
/// Blocks that may follow a heading such as “Related stories”.
const FOLLOWERS_MAX: usize = 40;
/// A block with this share of characters in links leads elsewhere.
const LINKS_MIN: f64 = 0.5;

pub fn remove(root: &NodeRef<'_>) {
    let all = blocks(root);
    let total: usize = all.iter().map(|block| block.n_chars).sum();
    let (mut left, mut rest) = (total, total);
    let mut gone: HashSet<NodeId> = HashSet::new();
    for (at, block) in all.iter().enumerate() {
        let rest_here = rest;
        rest -= block.n_chars;
        if gone.contains(&block.node.id) {
            continue;
        }
        let n_out = if appendix::begins(&all, at, rest_here, left) {
            all.len() - at
        } else if is_lead_in(block) || is_request(block) || is_ad(block) || is_about_page(block) {
            1
        } else {
            n_under_head(&all[at..])
        };
        let chars: usize = all[at..at + n_out].iter().map(|block| block.n_chars).sum();
        if n_out == 0 || left - chars < CHARS_MIN {
            continue;
        }
        left -= chars;
        for out in &all[at..at + n_out] {
            gone.insert(out.node.id);
            out.node.remove_from_parent();
        }
    }
}

/// Signs between words such as “Read more” and the link.
const LINK_SIGNS: [char; 9] = [':', '：', ' ', '–', '—', '-', '>', '»', '|'];

/// “Read more: another headline”, where the headline is a link.
fn is_lead_in(block: &TextBlock<'_>) -> bool {
    if block.n_chars > LEAD_IN_CHARS_MAX || block.n_linked == 0 || block.is_set_apart() {
        return false;
    }
    let line = block.line.to_lowercase();
    phrases(LEAD_INS).any(|phrase| {
        line.strip_prefix(phrase).is_some_and(|rest| {
            let n_rest = rest.trim_start_matches(LINK_SIGNS);
            rest.starts_with(LINK_SIGNS)
                && block.n_linked as f64 >= 0.6 * n_rest.chars().count() as f64
        })
    })
}

/// “Sign up for our newsletter”, “Follow us on …”.
fn is_request(block: &TextBlock<'_>) -> bool {
    if block.line.len() > REQUEST_BYTES_MAX || block.is_set_apart() {
        return false;
    }
    // A sentence about a newsletter is not a request: requests begin with it or link to it.
    let line = block.line.to_lowercase();
    let Some(at) = place(ACTIONS, &line) else { return false };
    (at < 40 || block.n_linked > 0 && at < 200) && place(OBJECTS, &line).is_some()
}

/// “We use cookies”, “Report an error”, “Already a subscriber?”.
fn is_about_page(block: &TextBlock<'_>) -> bool {
    if block.line.len() > ABOUT_PAGE_BYTES_MAX || block.is_set_apart() {
        return false;
    }
    let line = block.line.to_lowercase();
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '¿');
    phrases(ABOUT_PAGE).any(|phrase| line.starts_with(phrase))
}

/// A line around an advertisement, a button, or the number of a picture. A section may be called
/// “9/11”, and a cell of a table “Save”.
fn is_ad(block: &TextBlock<'_>) -> bool {
    let line = block.line.to_lowercase();
    let is_one =
        || is_picture_number(&line) || has(ADS, line.trim_matches(|c: char| !c.is_alphanumeric()));
    !block.is_set_apart() && !block.is_heading() && is_one()
}

/// Returns the number of blocks that go: the heading and the links under it.
fn n_under_head(blocks: &[TextBlock<'_>]) -> usize {
    let Some((head, after)) = blocks.split_first() else { return 0 };
    if head.n_chars > 60 || head.is_set_apart() {
        return 0;
    }
    let line = head.line.to_lowercase();
    let line = line.trim_matches(|c: char| !c.is_alphanumeric());
    if !has(HEADS, line) && !has(SURE_HEADS, line) {
        return 0;
    }
    let leads_away = |block: &TextBlock<'_>| {
        !block.is_heading() && block.link_density() > LINKS_MIN
            || block.is_heading() && block.link_density() > 0.9
    };
    if has(SURE_HEADS, line) {
        return 1 + n_cards(after, leads_away);
    }
    let n_after = after.iter().take(FOLLOWERS_MAX).take_while(|block| leads_away(block)).count();
    // A heading without links may begin a real section, unless nothing follows.
    if n_after > 0 || after.is_empty() { 1 + n_after } else { 0 }
}

/// Returns the number of blocks up to the last link, with at most two short texts before each.
fn n_cards(after: &[TextBlock<'_>], leads_away: impl Fn(&TextBlock<'_>) -> bool) -> usize {
    let (mut n_out, mut n_between) = (0, 0);
    for (at, block) in after.iter().take(FOLLOWERS_MAX).enumerate() {
        if leads_away(block) {
            (n_out, n_between) = (at + 1, 0);
        } else if block.is_heading() || block.n_chars > CARD_CHARS_MAX || n_between == 2 {
            break;
        } else {
            n_between += 1;
        }
    }
    n_out
}
