//! Removes the lines before the first paragraph that repeat facts: title, byline, date, reading
//! time.

use dom_query::NodeRef;

use super::blocks::{TextBlock, blocks};
use super::folded;
use crate::metadata;

/// Blocks that are looked at. A title, a byline, a date and a row of buttons come first.
const BLOCKS_MAX: usize = 8;
/// The first block with more characters is a paragraph of the article.
const PARAGRAPH_CHARS_MIN: usize = 160;
/// A title that differs from the heading by less than this share of characters is the same.
const TITLE_SHARE_MIN: f64 = 0.8;

pub fn remove(root: &NodeRef<'_>, title: Option<&str>, byline: Option<&str>) {
    let all = blocks(root);
    if all.len() < 2 {
        return;
    }
    let title = title.map(folded).filter(|title| !title.is_empty());
    let byline = byline.map(folded).filter(|byline| !byline.is_empty());
    for block in all[..all.len() - 1].iter().take(BLOCKS_MAX) {
        let line = folded(&block.line);
        let is_title = title.as_ref().is_some_and(|title| repeats(&line, title));
        if !is_title && block.n_chars >= PARAGRAPH_CHARS_MIN {
            return;
        }
        let is_byline = byline.as_ref().is_some_and(|byline| is_by(&line, byline));
        if is_title || is_byline || is_date(block) || is_reading_time(&block.line) {
            block.node.remove_from_parent();
        }
    }
}

/// Whether a line is the title, perhaps without the name of the site.
fn repeats(line: &str, title: &str) -> bool {
    if line == title {
        return true;
    }
    let (short, long) = if line.len() < title.len() { (line, title) } else { (title, line) };
    short.len() >= 12
        && long.starts_with(short)
        && short.len() as f64 / long.len() as f64 >= TITLE_SHARE_MIN
}

fn is_by(line: &str, byline: &str) -> bool {
    const BEFORE: [&str; 8] = ["by", "von", "par", "por", "di", "da", "door", "author"];
    let name = |text: &str| {
        let stripped = BEFORE.iter().find_map(|word| text.strip_prefix(word));
        stripped.unwrap_or(text).to_owned()
    };
    line == byline || name(line) == name(byline)
}

/// Whether a block is a date and nothing else.
fn is_date(block: &TextBlock<'_>) -> bool {
    if block.n_chars > 60 || block.is_set_apart() {
        return false;
    }
    let line = block.line.trim();
    const BEFORE: [&str; 8] =
        ["published", "posted", "updated", "last updated", "on", "date", "publié le", "stand"];
    let lower = line.to_lowercase();
    let mut rest = lower.as_str();
    for _ in 0..2 {
        for word in BEFORE {
            if let Some(after) = rest.strip_prefix(word) {
                rest = after.trim_start_matches([':', ' ']);
            }
        }
    }
    if metadata::time(rest).is_some() {
        return true;
    }
    let time = block.node.find_descendants("time");
    time.first().is_some_and(|time| {
        let shown = time.normalized_char_count();
        shown > 0 && shown + 16 >= block.n_chars && !block.is_heading()
    })
}

/// Whether a line says how long reading takes, such as “5 min read”.
fn is_reading_time(line: &str) -> bool {
    let line = line.to_lowercase();
    let starts = line.starts_with(|c: char| c.is_ascii_digit()) || line.starts_with("reading time");
    let says = ["min read", "minute read", "minutes read", "min. lesezeit", "reading time"];
    line.len() < 30 && starts && says.iter().any(|words| line.contains(words))
}
