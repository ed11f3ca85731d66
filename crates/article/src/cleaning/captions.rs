//! Finds the captions of pictures and the names of photographers. They belong to the article, but
//! not to its text: a reader sees them below a picture, and a search should find what is written
//! about.

use std::collections::HashSet;

use dom_query::{NodeId, NodeRef};

use super::blocks::{blocks, n_chars};

/// The largest share of a text that captions may be. A page with more is a gallery, and the
/// captions are its text.
const SHARE_MAX: f64 = 0.35;
/// Characters of a caption, and of a line that names a photographer.
const CAPTION_CHARS_MAX: usize = 600;
const CREDIT_CHARS_MAX: usize = 120;

/// Captions of one page. Galleries have a hundred.
const CAPTIONS_MAX: usize = 1000;

/// Words of classes.
const NAMES: [&str; 8] = [
    "caption",
    "figcaption",
    "captiontext",
    "credit",
    "credits",
    "photocredit",
    "imagecredit",
    "photographer",
];

/// Beginnings and ends of lines that name a photographer.
const CREDIT_BEGINS: &str = "\
    credit:|credits:|photo:|photos:|photo by|photos by|photo credit|photo courtesy|\
    photograph:|photograph by|photography by|image:|image by|image credit|image source|\
    image caption|image courtesy|media caption|picture:|picture by|illustration:|\
    illustration by|screenshot by|screenshot:|foto:|fotos:|bild:|bilder:|bildquelle|\
    quelle:|crédit|©|fotografía:|imagen:|immagine:|immagini:|kuva:|\
    zdjęcie:|фото:|写真：|写真:|图片来源|圖片來源|사진:|사진=";
const CREDIT_ENDS: &str = "\
    getty images|/getty|/reuters|/ap|/ap photo|/afp|/epa|/dpa|/shutterstock|\
    via shutterstock|via reuters|via ap|/alamy|via getty|/unsplash|/istock";

/// Returns the nodes whose words are captions, unless they are much of the text.
pub fn captions(root: &NodeRef<'_>) -> HashSet<NodeId> {
    let (mut found, mut n_out) = (HashSet::new(), 0);
    for node in root.descendants() {
        let is_caption = node.is_element()
            && found.len() < CAPTIONS_MAX
            && (node.has_name("figcaption") || is_named(&node))
            && !node.ancestors_it(None).any(|ancestor| found.contains(&ancestor.id));
        let chars = if is_caption { n_chars(&node) } else { 0 };
        if chars > 0 && chars <= CAPTION_CHARS_MAX {
            found.insert(node.id);
            n_out += chars;
        }
    }
    let (all, mut total) = (blocks(root), 0);
    for block in &all {
        total += block.n_chars;
        let is_found = found.contains(&block.node.id)
            || !found.is_empty()
                && block.node.ancestors_it(None).any(|ancestor| found.contains(&ancestor.id));
        if !is_found && !block.is_heading() && is_credit(&block.line, block.n_chars) {
            found.insert(block.node.id);
            n_out += block.n_chars;
        }
    }
    if n_out as f64 > SHARE_MAX * total as f64 { HashSet::new() } else { found }
}

/// Whether a class says that an element is a caption.
fn is_named(node: &NodeRef<'_>) -> bool {
    let Some(class) = node.class() else { return false };
    let says = class.split_whitespace().take(20).any(|name| {
        let name = name.to_ascii_lowercase();
        let words = name.split(|c: char| !c.is_alphanumeric());
        let joined: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
        let is_negative = words.clone().any(|word| word == "no");
        words.clone().next_back().is_some_and(|word| NAMES.contains(&word)) && !is_negative
            || NAMES.contains(&joined.as_str())
            || joined.ends_with("captiontext")
    });
    let n_inside = |name: &str| node.find_descendants(name).len();
    let holds_more = || ["img", "h2", "h3", "h4"].iter().any(|name| n_inside(name) > 0);
    says && n_inside("p") <= 1 && !holds_more()
}

fn is_credit(line: &str, n_chars: usize) -> bool {
    if n_chars > CREDIT_CHARS_MAX {
        return false;
    }
    let line = line.to_lowercase();
    let text = line.trim_matches(['(', ')', '[', ']', ' ', '.']);
    matches!(text, "image" | "photo" | "picture" | "video" | "foto" | "bild")
        || CREDIT_BEGINS.split('|').any(|begin| line.starts_with(begin))
        || CREDIT_ENDS.split('|').any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn photographers_are_named_in_short_lines() {
        for line in ["Credit: Jane Roe", "(Mark Stout/iStock/Getty Images)", "Foto: dpa", "Image"] {
            assert!(is_credit(line, line.len()), "{line}");
        }
        for line in ["Credit is hard to get.", "The photo was taken by a neighbour.", "In a trap"] {
            assert!(!is_credit(line, line.len()), "{line}");
        }
    }
}
