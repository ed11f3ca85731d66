//! Removes from the main text what is not the article: newsletter boxes, related links, share
//! buttons, comments, a repeated title. The extraction library keeps them, since it prefers too
//! much text to too little.
//!
//! The input is the tree of the main text with the classes of the publisher, which this module
//! changes in place. Each step is limited to a share of the text, so that a wrong guess never
//! empties an article.

mod blocks;
mod captions;
mod leading;
mod lines;
mod months;
mod named;
mod spoken;
mod trailing;

use dom_query::{NodeRef, Selection};

use crate::base::PageBase;

pub use blocks::is_heading;
pub use captions::captions;

/// Characters that the article keeps whatever the steps find.
const CHARS_MIN: usize = 200;

/// Cleans the main text below `root`.
pub fn clean(root: &NodeRef<'_>, title: Option<&str>, byline: Option<&str>) {
    named::remove(root);
    leading::remove(root, title, byline);
    spoken::remove(root);
    trailing::remove(root, byline);
}

/// Makes the addresses of links and pictures absolute, where the library did not.
pub fn make_absolute(root: &NodeRef<'_>, base: &PageBase) {
    for (selector, name) in [("a[href]", "href"), ("img[src]", "src"), ("iframe[src]", "src")] {
        for node in Selection::from(*root).select(selector).nodes() {
            let absolute = node.attr(name).and_then(|address| base.absolute(&address));
            if let Some(absolute) = absolute {
                node.set_attr(name, &absolute);
            }
        }
    }
}

/// Returns the lower-case letters and digits of a text. Two texts with the same ones read alike.
pub fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
