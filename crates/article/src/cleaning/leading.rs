//! Removes the lines before the first paragraph that repeat facts: title, byline, date, reading
//! time, and the buttons between them.

use dom_query::NodeRef;

use super::blocks::{TextBlock, blocks};
use super::folded;
use super::lines::{is_age, is_button, is_count, is_handle, is_reading_time, is_role};
use super::months::is_month;
use crate::metadata;

/// Blocks that are looked at. A title, a byline, a date and a row of buttons come first.
const BLOCKS_MAX: usize = 12;
/// The largest share of the text that may go. A list of links is not an article with a head.
const SHARE_MAX: f64 = 0.3;
/// Characters of a line with a date, an author or links to the sections above the page.
const LINE_CHARS_MAX: usize = 80;
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
    let total: usize = all.iter().map(|block| block.n_chars).sum();
    let mut n_left = (total as f64 * SHARE_MAX) as usize;
    let mut is_after_byline = false;
    for (at, block) in all[..all.len() - 1].iter().enumerate().take(BLOCKS_MAX) {
        let line = folded(&block.line);
        let is_title = title.as_ref().is_some_and(|title| repeats(&line, title));
        if !is_title && block.n_chars >= PARAGRAPH_CHARS_MIN {
            return;
        }
        let is_byline = byline.as_ref().is_some_and(|byline| is_by(&line, byline))
            || !block.is_heading() && !block.is_set_apart() && names_author(&block.line);
        // The post of an author, and how to reach them, follow the name.
        let is_of_author = is_after_byline && !block.is_heading() && is_role(&block.line);
        let is_fact = is_byline || is_of_author || is_date(block) || is_small_fact(block);
        if (is_title || is_fact || is_path_alone(&all, at)) && block.n_chars <= n_left {
            n_left -= block.n_chars;
            block.node.remove_from_parent();
        }
        is_after_byline = is_byline || is_after_byline && is_fact;
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
    let is_with_role = byline.len() >= 8
        && line.find(byline).is_some_and(|at| at <= 12)
        && line.len() - byline.len() <= 40;
    line == byline || name(line) == name(byline) || is_with_role
}

/// Whether a line is “By” and names.
fn names_author(line: &str) -> bool {
    const BEFORE: &str = "by von par por door af av di autor: author: autore: auteur: tekst: text:";
    const BETWEEN: &str = "and & und et y e en og och i de da del van von der den la le bin al";
    let mut words = line.split_whitespace();
    let begins = words.next().is_some_and(|word| {
        let word = word.to_lowercase();
        BEFORE.split(' ').any(|before| word == before)
    });
    let is_name = |word: &str| {
        word.starts_with(char::is_uppercase) || BETWEEN.split(' ').any(|between| between == word)
    };
    let names: Vec<&str> = words.collect();
    begins
        && (1..=8).contains(&names.len())
        && names.iter().all(|word| is_name(word))
        && !line.ends_with(['.', '!', '?', ':'])
}

/// Whether a block is a reading time, an age, a number of comments, a button or a handle.
fn is_small_fact(block: &TextBlock<'_>) -> bool {
    let line = block.line.as_str();
    let is_fact = is_reading_time(line) || is_age(line) || is_count(line) || is_handle(line);
    !block.is_heading() && !block.is_set_apart() && (is_fact || is_button(line))
}

/// Whether a block is the only row of links here. Several rows are a list, which is content.
fn is_path_alone(all: &[TextBlock<'_>], at: usize) -> bool {
    let is_path_at = |at: usize| all.get(at).is_some_and(is_path);
    is_path_at(at) && !is_path_at(at + 1) && !at.checked_sub(1).is_some_and(is_path_at)
}

/// Whether a block is a row of links, such as the sections above a page.
fn is_path(block: &TextBlock<'_>) -> bool {
    !block.is_heading()
        && !block.is_set_apart()
        && block.n_chars <= LINE_CHARS_MAX
        && block.link_density() > 0.85
        && !block.node.has_name("li")
}

/// Whether a block is a date and nothing else.
pub fn is_date(block: &TextBlock<'_>) -> bool {
    if block.n_chars > LINE_CHARS_MAX || block.is_set_apart() {
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
    if metadata::time(rest).is_some() || !block.is_heading() && has_date_shape(line) {
        return true;
    }
    let time = block.node.find_descendants("time");
    time.first().is_some_and(|time| {
        let shown = time.normalized_char_count();
        shown > 0 && shown + 16 >= block.n_chars && !block.is_heading()
    })
}

/// Whether a line has a year and a day, or a time of day, and few words besides.
fn has_date_shape(line: &str) -> bool {
    let is_part = |part: &&str| !part.is_empty();
    let parts: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).filter(is_part).collect();
    let numbers: Vec<u32> = line
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| (1..=4).contains(&digits.len()))
        .filter_map(|digits| digits.parse().ok())
        .collect();
    let has_year = numbers.iter().any(|n| (1990..2100).contains(n));
    let n_days = numbers.iter().filter(|n| (1..=31).contains(*n)).count();
    let has_month = n_days > 1 || parts.iter().any(|part| is_month(part));
    let has_day = n_days > 0 && has_month;
    let digits_at = |text: &str, n: usize| text.len() >= n && text[..n].bytes().all(is_digit);
    let has_clock = line.match_indices(':').any(|(at, _)| {
        let before = line[..at].bytes().next_back().is_some_and(is_digit);
        before && line.is_char_boundary(at + 3) && digits_at(&line[at + 1..], 2)
    });
    let n_words = parts.iter().filter(|part| !part.bytes().any(is_digit)).count();
    let is_sentence = line.ends_with(['.', '!', '?', '。']);
    n_words <= 7 && !is_sentence && (has_year && has_day || has_clock && n_words <= 5)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_known_by_their_shape() {
        for line in [
            "Submitted on Mon, 2019-01-21 13:49",
            "Šodien, 17:40",
            "Am 5. März 2026 um 14:30 Uhr",
            "2018年6月18日 10:01",
            "Publié le 5 mars 2026 à 08h15",
        ] {
            assert!(has_date_shape(line), "{line}");
        }
        for line in [
            "The town of 1995",
            "It began on 5 March 2026.",
            "On 5 March 2026 the new harbour was opened by the mayor and three ministers",
            "Three to one",
            "Score 3:1",
            "7 things we learned in 2024",
            "10 books of 2024",
        ] {
            assert!(!has_date_shape(line), "{line}");
        }
    }

    #[test]
    fn authors_are_known_by_the_word_before_them() {
        for line in ["By Jane Roe", "Von Max Muster und Eva Beispiel", "By JANE ROE, Staff Writer"]
        {
            assert!(names_author(line), "{line}");
        }
        for line in ["By then it was late", "By Friday.", "Von hier an", "Jane Roe"] {
            assert!(!names_author(line), "{line}");
        }
    }
}
