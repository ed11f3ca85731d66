//! Limits the cost of parsing a publisher's HTML. Long texts are cut, and tags lose attributes that
//! cost more than they are worth. This module does not make HTML safe; the sanitiser does that
//! afterwards.

use std::borrow::Cow;

use super::cost::is_cheap;

/// The bytes that are parsed of any text. At about 14 MB/s a page of 30 entries takes less than a
/// quarter of a second.
pub const HTML_BYTES_MAX: usize = 64 * 1024;

/// The tags of any text. The parser's work can grow with the square of their number.
pub const TAGS_MAX: usize = 2000;

/// The bytes that are parsed of an article with [cheap](is_cheap) markup. The feed parser keeps
/// more of a text (1 MiB), so that an article which was cut there is also cut and marked here. The
/// sanitiser takes about 0.1 s for this much.
pub const ARTICLE_BYTES_MAX: usize = 1_000_000;

/// The tags of such an article. A chapter of a book has a few thousand.
pub const ARTICLE_TAGS_MAX: usize = 50_000;

/// The attributes of one tag. The parser compares each with all before it. People write a handful,
/// programs a few dozen.
const ATTRIBUTES_MAX: usize = 256;

/// Formatting elements. If one is not closed, the parser opens it again in every paragraph that
/// follows, once for each set of attributes. In one test 16 kB of such tags made 8 MB of page.
/// Without attributes the parser keeps three of a kind at most.
const FORMATTING: &str = "b big code em font i nobr s small strike strong tt u";

/// Formatting tags that keep their attributes. At best we would show a title or a language.
const DRESSED_MAX: usize = 16;

/// The part of a text that is parsed.
#[derive(Debug, PartialEq, Eq)]
pub struct BoundedHtml<'a> {
    pub html: Cow<'a, str>,
    /// Whether the text continues after this part.
    pub is_cut: bool,
}

/// Returns the beginning of a text: enough for a title or a teaser.
pub fn beginning(text: &str) -> Cow<'_, str> {
    undressed(cut(text, HTML_BYTES_MAX, TAGS_MAX)).0
}

/// Returns as much of a text as is cheap to parse: all of it, unless it is very long or its markup
/// is expensive.
pub fn bounded(text: &str) -> BoundedHtml<'_> {
    let short = cut(text, HTML_BYTES_MAX, TAGS_MAX);
    let article = if short.len() == text.len() {
        short
    } else {
        Some(cut(text, ARTICLE_BYTES_MAX, ARTICLE_TAGS_MAX))
            .filter(|a| is_cheap(a))
            .unwrap_or(short)
    };
    let (html, is_whole) = undressed(article);
    BoundedHtml { html, is_cut: !is_whole || article.len() < text.len() }
}

/// Removes attributes that cost more than they are worth. Returns whether the text is complete: it
/// is cut if scanning its tags takes too long.
fn undressed(mut text: &str) -> (Cow<'_, str>, bool) {
    // A tag inside the quotes of another is scanned again. Many of them are an attack.
    let (scanned_max, len) = (4 * text.len().max(HTML_BYTES_MAX), text.len());
    let (mut kept, mut done, mut at) = (String::new(), 0, 0);
    let (mut n_scanned, mut n_dressed) = (0, 0);
    while let Some(open) = text[at..].find('<').map(|found| at + found) {
        at = open + 1;
        let Some(tag) = HtmlTag::read(&text[open..]) else { continue };
        n_scanned += tag.len;
        if n_scanned > scanned_max {
            text = &text[..open];
            break;
        }
        let dressed = tag.n_attributes > 0 && tag.is_formatting();
        n_dressed += usize::from(dressed);
        if tag.n_attributes > ATTRIBUTES_MAX || dressed && n_dressed > DRESSED_MAX {
            kept.push_str(&text[done..=open]);
            kept.push_str(tag.name);
            kept.push('>');
            done = open + tag.len;
            at = done;
        }
    }
    let is_whole = text.len() == len;
    if done == 0 {
        return (Cow::Borrowed(text), is_whole);
    }
    kept.push_str(&text[done..]);
    (Cow::Owned(kept), is_whole)
}

fn cut(text: &str, bytes_max: usize, tags_max: usize) -> &str {
    let text = &text[..text.floor_char_boundary(bytes_max)];
    let end = text.match_indices('<').nth(tags_max).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// A tag as it is written.
pub struct HtmlTag<'a> {
    /// The name, with the slash of an end tag.
    pub name: &'a str,
    n_attributes: usize,
    /// The bytes from `<` to `>`, or to the end of the text.
    pub len: usize,
}

const DOUBLE_QUOTE: u8 = 0x22;
const SINGLE_QUOTE: u8 = 0x27;

/// The state of the scanner inside a tag.
#[derive(Clone, Copy)]
enum TagState {
    Between,
    Name,
    AfterName,
    BeforeValue,
    Bare,
    Quoted(u8),
}

impl<'a> HtmlTag<'a> {
    /// Reads the tag at the beginning of a text as HTML parsers do (HTML standard, 13.2.5). A tag
    /// inside a comment or a script counts too.
    pub fn read(text: &'a str) -> Option<HtmlTag<'a>> {
        let bytes = text.as_bytes();
        let first = if bytes.get(1) == Some(&b'/') { 2 } else { 1 };
        bytes.get(first).filter(|byte| byte.is_ascii_alphabetic())?;
        let ends_name = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>');
        let name_end = bytes.iter().skip(first).position(ends_name).map(|n| first + n);
        let name_end = name_end.unwrap_or(bytes.len());
        let (mut place, mut n_attributes, mut len) = (TagState::Between, 0, bytes.len());
        for (at, &byte) in bytes.iter().enumerate().skip(name_end) {
            place = match (place, byte) {
                (TagState::Quoted(quote), _) if byte == quote => TagState::Between,
                (TagState::Quoted(_), _) => place,
                (TagState::BeforeValue, DOUBLE_QUOTE | SINGLE_QUOTE) => TagState::Quoted(byte),
                (_, b'>') => {
                    len = at + 1;
                    break;
                }
                (TagState::BeforeValue, _) if is_space(byte) => place,
                (TagState::Bare, _) if is_space(byte) => TagState::Between,
                (TagState::BeforeValue | TagState::Bare, _) => TagState::Bare,
                (TagState::Between | TagState::Name | TagState::AfterName, b'/') => {
                    TagState::Between
                }
                (TagState::Name | TagState::AfterName, b'=') => TagState::BeforeValue,
                (TagState::Name | TagState::AfterName, _) if is_space(byte) => TagState::AfterName,
                (TagState::Name, _) => place,
                (TagState::Between, _) if is_space(byte) => place,
                (TagState::Between | TagState::AfterName, _) => {
                    n_attributes += 1;
                    TagState::Name
                }
            };
        }
        Some(HtmlTag { name: &text[1..name_end], n_attributes, len })
    }

    pub fn is_formatting(&self) -> bool {
        FORMATTING.split(' ').any(|name| name.eq_ignore_ascii_case(self.name))
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n_attributes(text: &str) -> Option<(usize, usize)> {
        HtmlTag::read(text).map(|tag| (tag.n_attributes, tag.len))
    }

    #[test]
    fn attributes_are_told_apart_as_browsers_do() {
        for (text, expect) in [
            ("<p>a", Some((0, 3))),
            ("</p a>", Some((1, 6))),
            ("<br/>", Some((0, 5))),
            ("<a b c=d e = 'f>' g=\"h\"i>j", Some((5, 25))),
            ("<a b/c=/d/ e>", Some((3, 13))),
            ("<a =b=c>", Some((1, 8))),
            ("<a b=>c", Some((1, 6))),
            ("<a b='c>", Some((1, 8))),
            ("<p\n\ta\r\n=\x0c'x y'>", Some((1, 15))),
            ("< p>", None),
            ("<1 a>", None),
            ("<!-- a -->", None),
            ("<", None),
            ("</", None),
        ] {
            assert_eq!(n_attributes(text), expect, "{text:?}");
        }
    }

    #[test]
    fn a_tag_of_thousands_of_attributes_keeps_none() {
        let many: String = (0..9000).map(|n| format!("{n:x} ")).collect();
        for tag in ["p", "/p", "X-y"] {
            let text = format!("é<a b=c>é<{tag} {many}>ü");
            assert_eq!(bounded(&text).html, format!("é<a b=c>é<{tag}>ü"));
        }
        let some: String = (0..ATTRIBUTES_MAX).map(|n| format!("a{n}='x'")).collect();
        let text = format!("<p {some}>x</p>");
        assert!(matches!(bounded(&text).html, Cow::Borrowed(whole) if whole == text));
    }

    #[test]
    fn no_hiding_place_saves_attributes() {
        let many: String = (0..9000).map(|n| format!("{n:x} ")).collect();
        for before in ["<!-- <a b=' -->", "<script>'<a b=\"</script>", "<a b=\"<c d='\">"] {
            let text = format!("{before}<p {many}>x");
            let left = bounded(&text).html;
            assert!(left.len() < 100, "{before}: {} bytes are left", left.len());
        }
    }

    #[test]
    fn looking_at_tags_ends() {
        // Each tag is inside the quotes of those before it.
        let nested = "<a b='".repeat(200) + &"x".repeat(HTML_BYTES_MAX - 2000) + "'>";
        let left = bounded(&nested);
        assert!(left.html.len() < 100 && left.is_cut, "{}", left.html.len());
    }
}
