//! Frames of known players in a publisher's HTML. The sanitiser removes all frames; before that, a
//! link with a still is put in front of each one that we know. The links pass the sanitiser like
//! the rest, so nothing here has to be safe.

use std::borrow::Cow;

use article::embed::{Embed, recognise};

use super::unescaped;

/// Frames of one text. A list of the best songs of a year has a hundred.
const FRAMES_MAX: usize = 200;
/// The longest tag that is read.
const TAG_BYTES_MAX: usize = 8192;

/// Adds a link in front of each frame that we know.
pub fn with_links(dirty: &str) -> Cow<'_, str> {
    let mut written = String::new();
    let (mut rest, mut n_frames) = (dirty, 0);
    while let Some(at) = find_frame(rest).filter(|_| n_frames < FRAMES_MAX) {
        n_frames += 1;
        let (before, tag) = rest.split_at(at);
        written.push_str(before);
        if let Some(embed) = frame(tag) {
            written.push_str(&link(&embed));
        }
        let (name, after) = tag.split_at("<iframe".len());
        written.push_str(name);
        rest = after;
    }
    if written.is_empty() {
        return Cow::Borrowed(dirty);
    }
    written.push_str(rest);
    Cow::Owned(written)
}

fn find_frame(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('<').map(|at| at + from) {
        let is_frame = |name: &[u8]| name.eq_ignore_ascii_case(b"iframe");
        if text.as_bytes().get(at + 1..at + 7).is_some_and(is_frame) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// Returns the player of a frame. Lazy pages keep its address in another attribute.
fn frame(tag: &str) -> Option<Embed> {
    let tag = &tag[..tag.floor_char_boundary(TAG_BYTES_MAX)];
    let attributes = attributes(tag.strip_prefix('<')?);
    let names = ["src", "data-src", "data-lazy-src"];
    let value = |name: &str| attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v);
    names.iter().find_map(|name| recognise(&unescaped(value(name)?)))
}

/// Reads the attributes of a start tag up to its end.
fn attributes(tag: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    let mut rest = tag.split_once(|c: char| c.is_ascii_whitespace()).map_or("", |(_, rest)| rest);
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>'));
        let Some(end) = end.filter(|end| *end > 0) else { return found };
        let (name, after) = rest.split_at(end);
        let Some(after) = after.trim_start().strip_prefix('=') else {
            rest = after;
            continue;
        };
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
        let value = match quote {
            Some(quote) => after[1..].split(quote).next().unwrap_or(""),
            None => after.split(|c: char| c.is_ascii_whitespace() || c == '>').next().unwrap_or(""),
        };
        let n_quotes = if quote.is_some() { 2 } else { 0 };
        rest = after.get(value.len() + n_quotes..).unwrap_or("");
        found.push((name.to_ascii_lowercase(), value));
    }
}

/// The HTML of a player: a link around a still, or words where there is none.
fn link(embed: &Embed) -> String {
    let words = words(embed);
    let inside = match &embed.still {
        Some(still) => format!("<img src=\"{}\" alt=\"{words}\">", escaped(still)),
        None => words,
    };
    format!("<p><a href=\"{}\">{inside}</a></p>", escaped(&embed.link))
}

/// Returns the words for a player without a still.
pub fn words(embed: &Embed) -> String {
    format!("{} on {}", embed.kind.word(), embed.site)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_frames_get_a_link_and_others_do_not() {
        let known = "a<IFRAME width=5 allowfullscreen\
                     SRC='//www.youtube.com/embed/dQw4w9WgXcQ?rel=0&amp;x=1'></iframe>b";
        let shown = with_links(&known.replace("fullscreen", "fullscreen ")).into_owned();
        assert!(shown.starts_with("a<p><a href=\"https://www.youtube.com/watch?v=dQw4w9WgXcQ\">"));
        assert!(shown.contains("alt=\"Video on YouTube\"></a></p><IFRAME width=5"), "{shown}");
        for other in
            ["", "<p>", "<iframe", "<iframe>", "<iframe src", "<iframe src=x", "<iframe src='"]
        {
            assert_eq!(with_links(other), other);
        }
        let lazy = "<iframe data-src=https://player.vimeo.com/video/76979871></iframe>";
        assert!(with_links(lazy).contains(">Video on Vimeo</a>"));
    }
}
