//! Builds the tree of a page within limits, because a page may be hostile: the extraction walks the
//! tree many times and partly by recursion. Unlimited, 100,000 nested elements overflow the stack,
//! which ends the process.
//!
//! The input is decoded text, the output a tree or the limit that the page exceeds. Real pages stay
//! far below the limits: 311 of them have at most 1.63 MB, 51 levels, 9,888 elements and 70
//! attributes in one tag.

mod attributes;
mod sink;

use dom_query::{Document, NodeRef};
use html5ever::ParseOpts;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;

use crate::limits::{DEPTH_MAX, ELEMENTS_MAX, PAGE_BYTES_MAX};
use crate::refusal::NoArticle;
use sink::LimitedSink;

/// The parser gets this much text at a time, and the limits are checked in between. One piece can
/// open about 250 elements, or reopen formatting about 64,000 times.
const PIECE_BYTES: usize = 1024;

/// Returns the tree of a page.
pub fn tree(text: &str) -> Result<Document, NoArticle> {
    if text.len() > PAGE_BYTES_MAX {
        return Err(NoArticle::TooLarge { n_bytes: text.len() });
    }
    let text = attributes::limited(text).ok_or(NoArticle::TooComplex)?;
    let document = parsed(&text)?;
    // Misnested formatting moves whole branches deeper than the sink counted.
    if depth(&document.root()) > DEPTH_MAX {
        return Err(NoArticle::TooDeep);
    }
    Ok(document)
}

fn parsed(text: &str) -> Result<Document, NoArticle> {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let options = ParseOpts { tree_builder, ..ParseOpts::default() };
    let mut parser = html5ever::parse_document(LimitedSink::default(), options);
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE_BYTES));
        parser.process(StrTendril::from_slice(piece));
        rest = after;
        let sink = &parser.tokenizer.sink.sink;
        if sink.n_elements() > ELEMENTS_MAX {
            return Err(NoArticle::TooManyElements);
        }
        if sink.depth() > DEPTH_MAX {
            return Err(NoArticle::TooDeep);
        }
    }
    Ok(parser.finish())
}

/// Returns the length of the longest branch, without recursion.
fn depth(root: &NodeRef<'_>) -> usize {
    let (mut deepest, mut level) = (0, 0_usize);
    let mut at = *root;
    loop {
        if let Some(child) = at.first_child() {
            level += 1;
            deepest = deepest.max(level);
            at = child;
            continue;
        }
        loop {
            if at.id == root.id {
                return deepest;
            }
            if let Some(next) = at.next_sibling() {
                at = next;
                break;
            }
            let Some(parent) = at.parent() else { return deepest };
            level = level.saturating_sub(1);
            at = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_markup_passes_however_sloppy() {
        let prose = "<p>Some <b>bold</b> words<br>and <a href='x'>a link</a>.<p>Unclosed.<hr>";
        let page = format!("<title>A</title><div>{}", prose.repeat(2000));
        let document = tree(&page).unwrap();
        assert_eq!(document.select("p").length(), 4000);
        assert!(depth(&document.root()) < 8);
    }

    #[test]
    fn deep_pages_are_refused() {
        for tag in [
            "<svg><title>",
            "<div>",
            "<span>",
            "<b>",
            "<table><tr><td>",
            "<svg>",
            "<ul><li>",
            "<template>",
        ] {
            let page = tag.repeat(100_000);
            assert_eq!(tree(&page).err(), Some(NoArticle::TooDeep), "{tag}");
            assert!(tree(&tag.repeat(60)).is_ok(), "{tag}");
        }
    }

    #[test]
    fn large_pages_are_refused() {
        let page = "a".repeat(PAGE_BYTES_MAX + 1);
        let n_bytes = page.len();
        assert_eq!(tree(&page).err(), Some(NoArticle::TooLarge { n_bytes }));
        assert_eq!(tree(&"<br>".repeat(60_000)).err(), Some(NoArticle::TooManyElements));
    }

    #[test]
    fn formatting_that_is_opened_again_in_each_paragraph_is_refused() {
        let open: String = (0..200).map(|n| format!("<b title={n}>")).collect();
        let page = format!("<p>{open}</p>{}", "<p>x</p>".repeat(100_000));
        assert_eq!(tree(&page).err(), Some(NoArticle::TooManyElements));
    }

    #[test]
    fn misnested_formatting_does_not_hide_depth() {
        let page = "<a><b><i><p>x</a>".repeat(20_000);
        assert!(matches!(tree(&page).err(), Some(NoArticle::TooDeep | NoArticle::TooManyElements)));
    }

    #[test]
    fn comments_and_repeated_html_tags_cost_no_nodes() {
        let page = format!("<p>a</p>{}", "<!-- c -->".repeat(100_000));
        assert!(tree(&page).unwrap().tree.len() < 20);
        let page: String = (0..100_000).map(|n| format!("<html a{n}=1>")).collect();
        assert!(tree(&page).is_ok());
    }
}
