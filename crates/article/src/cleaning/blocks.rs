//! The blocks of a text: elements that hold words and no other block with words.

use dom_query::{NodeRef, Selection};

use crate::text;

/// One block of the main text.
pub struct TextBlock<'a> {
    pub node: NodeRef<'a>,
    /// The text in one line.
    pub line: String,
    /// Characters that stand in links.
    pub n_linked: usize,
    pub n_chars: usize,
}

impl TextBlock<'_> {
    /// The share of the characters that stand in links.
    pub fn link_density(&self) -> f64 {
        self.n_linked as f64 / self.n_chars.max(1) as f64
    }

    pub fn is_heading(&self) -> bool {
        self.node.node_name().is_some_and(|name| is_heading(&name))
    }

    /// Whether the block is an item of a list, or stands in one.
    pub fn is_in_list(&self) -> bool {
        self.node.has_name("li") || self.node.ancestors_it(None).any(|node| node.has_name("li"))
    }

    /// Whether the block is part of a table, a code listing, a quotation or a picture.
    pub fn is_set_apart(&self) -> bool {
        const APART: [&str; 5] = ["pre", "table", "blockquote", "figure", "dl"];
        let is_apart = |node: &NodeRef<'_>| APART.iter().any(|name| node.has_name(name));
        is_apart(&self.node) || self.node.ancestors_it(None).any(|node| is_apart(&node))
    }
}

pub fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Returns the blocks below `root`, in the order of reading.
pub fn blocks<'a>(root: &NodeRef<'a>) -> Vec<TextBlock<'a>> {
    let mut found = Vec::new();
    for node in root.descendants() {
        if !is_block_element(&node) || has_block_with_words(&node) {
            continue;
        }
        let line = text::line(&node);
        if line.is_empty() {
            continue;
        }
        let n_chars = line.chars().count();
        found.push(TextBlock { n_linked: n_linked(&node), n_chars, line, node });
    }
    found
}

/// Returns the characters of the words in links.
pub fn n_linked(node: &NodeRef<'_>) -> usize {
    let links = Selection::from(*node).select("a[href]");
    links.nodes().iter().map(|link| text::line(link).chars().count()).sum()
}

/// Returns the characters of the words.
pub fn n_chars(node: &NodeRef<'_>) -> usize {
    node.normalized_char_count()
}

fn is_block_element(node: &NodeRef<'_>) -> bool {
    node.qual_name_ref().is_some_and(|name| text::is_block(&name.local) && &*name.local != "br")
}

fn has_block_with_words(node: &NodeRef<'_>) -> bool {
    node.element_children()
        .iter()
        .any(|child| (is_block_element(child) || has_block_with_words(child)) && n_chars(child) > 0)
}
