//! Finds where the comments of readers or a text about the author begin. All after it goes, so a
//! heading alone is not enough for a large part: a section of the article may be called “Comments”
//! too. Then something around or after the heading must show that readers speak there.

use std::collections::HashSet;

use dom_query::{NodeId, NodeRef};

use super::phrases::{AUTHORS, COMMENTS, REPLIES, counted, has};
use crate::cleaning::blocks::{TextBlock, is_heading};
use crate::cleaning::leading::is_date;
use crate::cleaning::lines::is_age;
use crate::cleaning::named::words_of;

/// Characters of a heading.
const HEAD_CHARS_MAX: usize = 80;
/// The largest share of a text that comments may be. Long threads are longer than their article.
const COMMENTS_SHARE_MAX: f64 = 0.7;
/// The same, if only the heading says that they are comments.
const UNPROVEN_SHARE_MAX: f64 = 0.3;
/// The largest share of a text that the words about its author may be.
const AUTHOR_SHARE_MAX: f64 = 0.2;
/// Links to reply and short lines with a date that show a row of comments.
const SIGNS_MIN: usize = 2;

/// Whether the block `all[at]` is the heading of the comments or of a text about the author, and
/// what it begins is not too much of the text. `rest` and `total` are characters.
pub fn begins(all: &[TextBlock<'_>], at: usize, rest: usize, total: usize) -> bool {
    let block = &all[at];
    if block.n_chars > HEAD_CHARS_MAX || block.is_set_apart() || block.is_in_list() {
        return false;
    }
    let line = block.line.to_lowercase();
    let line = line.trim_matches(|c: char| !c.is_alphanumeric());
    let share = rest as f64 / total.max(1) as f64;
    if has(AUTHORS, line) && share <= AUTHOR_SHARE_MAX {
        return true;
    }
    (has(COMMENTS, line) || heads_counted(line))
        && share <= COMMENTS_SHARE_MAX
        && (share <= UNPROVEN_SHARE_MAX || has_comments(all, at))
}

/// Whether a line is a number of comments, as in “2 comments on this article”.
fn heads_counted(line: &str) -> bool {
    line.split_once(' ').is_some_and(|(number, what)| {
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        is_number && counted(what)
    })
}

/// Whether classes, links to reply or dates show that readers speak from here on.
fn has_comments(all: &[TextBlock<'_>], at: usize) -> bool {
    let after = &all[at + 1..];
    let replies = after.iter().filter(|block| has(REPLIES, block.line.to_lowercase().trim()));
    let is_dated = |block: &&TextBlock<'_>| {
        !block.is_heading() && !block.is_in_list() && (is_age(&block.line) || is_date(block))
    };
    replies.take(SIGNS_MIN).count() == SIGNS_MIN
        || after.iter().filter(is_dated).take(SIGNS_MIN).count() == SIGNS_MIN
        || is_named_around(all, at)
}

/// Whether an element that holds the heading or a block after it is named after comments, and does
/// not hold the text before the heading as well.
fn is_named_around(all: &[TextBlock<'_>], at: usize) -> bool {
    let of_text = all[..at].last().map(|before| before.node.ancestors_it(None).map(|node| node.id));
    let mut seen: HashSet<NodeId> = of_text.into_iter().flatten().collect();
    all[at..].iter().any(|block| {
        let around = std::iter::once(block.node).chain(block.node.ancestors_it(None));
        around.take_while(|node| seen.insert(node.id)).any(|node| says_comments(&node))
    })
}

/// Whether a class or id says that an element holds comments. The id of a heading often repeats its
/// words.
fn says_comments(node: &NodeRef<'_>) -> bool {
    let id = node.id_attr().filter(|_| !node.node_name().is_some_and(|name| is_heading(&name)));
    let is_one = |word: String| {
        let is_comment = word.starts_with("comment") && !word.starts_with("commentar");
        is_comment || matches!(word.as_str(), "disqus" | "respond" | "replies" | "kommentare")
    };
    [node.class(), id].into_iter().flatten().any(|names| {
        let mut words = names.split_whitespace().take(40).flat_map(words_of);
        words.any(is_one)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_comments_are_whole_words() {
        for line in [
            "12 comments",
            "1 comment",
            "3 responses to “the harbour”",
            "2 thoughts on “the harbour”",
            "2 comments on this article",
            "4 kommentare",
            "7 replies",
        ] {
            assert!(heads_counted(line), "{line}");
        }
        for line in [
            "3 response strategies",
            "10 replacement ideas",
            "5 replicas of the quay",
            "2 commentators fell out",
            "comments",
        ] {
            assert!(!heads_counted(line), "{line}");
        }
    }
}
