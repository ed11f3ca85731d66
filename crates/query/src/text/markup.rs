//! Reduces markup to the text that a reader sees. It is not a parser or a sanitiser: the result is
//! searched, never shown. Every path moves forward, so that the cost is a few reads of each byte.

use std::borrow::Cow;

/// The markup that a text may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Markup {
    /// Summaries and contents: HTML.
    Full,
    /// Titles and names: plain text, in which some publishers write `<b>` or `&amp;`. `Vec<String>`
    /// stays.
    Inline,
}

/// Elements that do not end a word: `<b>V</b>olcano` is one.
const INLINE: [&str; 34] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// Elements with invisible text.
const HIDDEN: [&str; 3] = ["script", "style", "template"];

/// The longest name of an HTML reference has 31 letters.
const REFERENCE_BYTES_MAX: usize = 34;

/// Returns the text without tags, comments and hidden parts, with references resolved once.
pub(crate) fn reduce(text: &str, markup: Markup) -> Cow<'_, str> {
    if !text.bytes().any(|b| b == b'<' || b == b'&') {
        return Cow::Borrowed(text);
    }
    let mut reducer = Reducer { text, markup, closing: true };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(offset) = text[at..].find(['<', '&']) {
        out.push_str(&text[at..at + offset]);
        at += offset;
        at += match text.as_bytes()[at] {
            b'<' => reducer.tag(at, &mut out),
            _ => reference(&text[at..], &mut out),
        };
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

struct Reducer<'a> {
    text: &'a str,
    markup: Markup,
    /// Whether a `>` may still follow. This avoids reading to the end for each unclosed tag.
    closing: bool,
}

impl Reducer<'_> {
    /// Skips the tag at `at`, which is a `<`, and returns its length. Anything that is not a tag is
    /// text.
    fn tag(&mut self, at: usize, out: &mut String) -> usize {
        let rest = &self.text[at..];
        let full = self.markup == Markup::Full;
        if full && rest.starts_with("<!--") {
            return rest.find("-->").map_or(rest.len(), |end| end + 3);
        }
        let after = rest[1..].strip_prefix('/').unwrap_or(&rest[1..]);
        let name_end = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
        let name = after[..name_end].to_ascii_lowercase();
        let known = INLINE.contains(&name.as_str()) || matches!(name.as_str(), "br" | "p");
        let is_tag = match self.markup {
            Markup::Full => {
                after.starts_with(|c: char| c.is_ascii_alphabetic())
                    || rest[1..].starts_with(['!', '?'])
            }
            Markup::Inline => known,
        };
        let Some(len) = is_tag.then(|| self.tag_len(at)).flatten() else {
            out.push('<');
            return 1;
        };
        if !INLINE.contains(&name.as_str()) {
            out.push('\n');
        }
        let opens_hidden = full && HIDDEN.contains(&name.as_str()) && !rest.starts_with("</");
        if opens_hidden { len + hidden_len(&rest[len..], &name) } else { len }
    }

    /// Returns the length of a tag. Skips `>` inside quoted values.
    fn tag_len(&mut self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut i = at + 1;
        let mut after_equals = false;
        while self.closing {
            match bytes.get(i)? {
                b'>' => return Some(i + 1 - at),
                b'<' if !after_equals => return None,
                quote @ (b'"' | b'\'') if after_equals => {
                    // A quote without its end is not a quote. That happens once, because the next
                    // quote would end it.
                    let end = bytes[i + 1..].iter().position(|b| b == quote);
                    i += end.map_or(0, |end| end + 1);
                    after_equals = false;
                }
                b'=' => after_equals = true,
                b if b.is_ascii_whitespace() => {}
                _ => after_equals = false,
            }
            i += 1;
            self.closing = i < bytes.len();
        }
        None
    }
}

/// Returns the length of the hidden text that starts here: to its end tag, or to the end.
fn hidden_len(rest: &str, name: &str) -> usize {
    let mut at = 0;
    while let Some(offset) = rest[at..].find("</") {
        at += offset;
        let end = rest.as_bytes().get(at + 2..at + 2 + name.len());
        if end.is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes())) {
            return at;
        }
        at += 2;
    }
    rest.len()
}

/// Resolves the reference at the start of `rest`, which is a `&`, and returns its length.
fn reference(rest: &str, out: &mut String) -> usize {
    let body = &rest.as_bytes()[1..];
    let end = body.iter().take(REFERENCE_BYTES_MAX).position(|b| *b == b';');
    let named = end.map(|end| &rest[1..=end]);
    if let (Some(name), Some(end)) = (named, end) {
        let resolved = match name.strip_prefix('#') {
            Some(number) => numeric(number).map(|c| (c, None)),
            None => by_name(name),
        };
        if let Some((first, second)) = resolved {
            out.push(first);
            out.extend(second);
            return end + 2;
        }
    }
    out.push('&');
    1
}

fn numeric(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    // Numbers 128 to 159 are punctuation of windows-1252. For a search, any punctuation ends a
    // word.
    if (0x80..=0x9f).contains(&code) { Some('’') } else { char::from_u32(code) }
}

fn by_name(name: &str) -> Option<(char, Option<char>)> {
    match name {
        "amp" => return Some(('&', None)),
        "nbsp" => return Some((' ', None)),
        "quot" => return Some(('"', None)),
        "lt" => return Some(('<', None)),
        "gt" => return Some(('>', None)),
        _ => {}
    }
    // The table has each name with its semicolon; prefixes of names map to zero.
    let (first, second) = html5ever::data::NAMED_ENTITIES.get(&format!("{name};"))?;
    let character = |code: u32| char::from_u32(code).filter(|c| *c != '\0');
    Some((character(*first)?, character(*second)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let reduced = reduce(text, Markup::Full);
        assert_eq!(reduced.split_whitespace().collect::<Vec<_>>().join(" "), expect, "{text}");
    }

    #[test]
    fn tags_go_and_blocks_separate_words() {
        check("<p>One</p><p>two<br>three</p>", "One two three");
        check("<b>V</b>olcano <a title='x > y' href=\"z\">ash</a>", "Volcano ash");
        check("a < b and c > d, x<y", "a < b and c > d, x<y");
        check("<p>unclosed <b", "unclosed <b");
        check("<img alt=\"x", "<img alt=\"x");
    }

    #[test]
    fn hidden_parts_are_not_text() {
        check("a<script>var b = '<p>';</script>c", "a c");
        check("a<STYLE>b{}</Style >c<!-- d -->e<!-- f", "a ce");
        check("a<script>b", "a");
    }

    #[test]
    fn references_are_resolved_once() {
        check("R&amp;D caf&eacute; &#233;&#xe9; &amp;eacute;", "R&D café éé &eacute;");
        check("AT&T &nosuch; &", "AT&T &nosuch; &");
        check("it&#146;s", "it’s");
    }

    #[test]
    fn titles_keep_what_only_looks_like_markup() {
        assert_eq!(reduce("Vec<String> &amp; <b>bold</b>", Markup::Inline), "Vec<String> & bold");
    }

    #[test]
    fn unclosed_quotes_cost_no_square_of_the_text() {
        let hostile = "<a b=\"".repeat(20_000);
        assert_eq!(reduce(&hostile, Markup::Full).len(), hostile.len());
    }
}
