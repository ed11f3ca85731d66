//! Resolves character references and named entities: those of XML and HTML only. A document's own
//! entities (DTD) are never expanded, so no document can grow while it is read.

use std::borrow::Cow;

use crate::warning::{Defect, Warnings};

/// The longest name in HTML has 31 characters; numeric references may carry leading zeros.
const NAME_BYTES_MAX: usize = 40;

/// Replaces references in raw XML text. Everything else stays as written.
pub(crate) fn unescape<'a>(raw: &'a str, offset: usize, warnings: &mut Warnings) -> Cow<'a, str> {
    let Some(first) = raw.find('&') else { return Cow::Borrowed(raw) };
    let mut out = String::with_capacity(raw.len());
    out.push_str(&raw[..first]);
    let mut rest = &raw[first..];
    while !rest.is_empty() {
        let at = offset + (raw.len() - rest.len());
        let consumed = reference(rest, &mut out, at, warnings);
        rest = &rest[consumed..];
        let next = rest.find('&').unwrap_or(rest.len());
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(out)
}

/// Resolves the reference at the start of `rest`, which is a `&`, and returns its length.
fn reference(rest: &str, out: &mut String, at: usize, warnings: &mut Warnings) -> usize {
    let Some((name, len)) = name_of(rest) else {
        warnings.note(Defect::StrayAmpersand, at);
        out.push('&');
        return 1;
    };
    if let Some(number) = name.strip_prefix('#') {
        match numeric(number) {
            Some(c) => out.push(c),
            None => {
                warnings.note(Defect::BadCharacter, at);
            }
        }
        return len;
    }
    match named(name) {
        Some((first, second)) => {
            out.push(first);
            out.extend(second);
        }
        None => {
            warnings.note_about(Defect::UnknownEntity, at, Some(&rest[..len]));
            out.push_str(&rest[..len]);
        }
    }
    len
}

/// Returns the name between `&` and `;`, and the length of the whole reference.
fn name_of(rest: &str) -> Option<(&str, usize)> {
    let body = &rest.as_bytes()[1..];
    let end = body
        .iter()
        .take(NAME_BYTES_MAX)
        .position(|b| !(b.is_ascii_alphanumeric() || *b == b'#'))?;
    let good = end > 0 && body[end] == b';' && body[0] != b';';
    good.then(|| (&rest[1..=end], end + 2))
}

/// Returns the one or two characters of a named entity.
fn named(name: &str) -> Option<(char, Option<char>)> {
    match name {
        "amp" => Some(('&', None)),
        "lt" => Some(('<', None)),
        "gt" => Some(('>', None)),
        "quot" => Some(('"', None)),
        "apos" => Some(('\'', None)),
        _ => {
            // The table of HTML has each name with its semicolon; prefixes of names map to zero.
            let (first, second) = html5ever::data::NAMED_ENTITIES.get(&format!("{name};"))?;
            let character = |code: u32| char::from_u32(code).filter(|c| *c != '\0');
            Some((character(*first)?, character(*second)))
        }
    }
}

/// Resolves a numeric reference. Numbers 128 to 159 mean windows-1252, as in HTML. Unicode has
/// control characters there, which nobody writes.
fn numeric(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    match code {
        0x80..=0x9f => Some(windows_1252(code as u8)),
        0x9 | 0xa | 0xd => char::from_u32(code),
        0..=0x1f | 0xfffe | 0xffff => None,
        _ => char::from_u32(code),
    }
}

/// Returns the windows-1252 character of a byte between 128 and 159.
pub(crate) fn windows_1252(byte: u8) -> char {
    let bytes = [byte];
    let decoded = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&bytes).0;
    decoded.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Writes text into markup. Every XML writer uses this function. It leaves out characters that XML
/// 1.0 forbids, because one of them makes a whole document unreadable.
pub(crate) fn escape_text(text: &str, out: &mut String) {
    escape(text, out, false);
}

/// Writes a value between double quotes, in the same way.
pub(crate) fn escape_attribute(text: &str, out: &mut String) {
    escape(text, out, true);
}

fn escape(text: &str, out: &mut String, quotes: bool) {
    let special =
        |c: char| matches!(c, '&' | '<' | '>') || (quotes && c == '"') || !is_xml_character(c);
    let mut rest = text;
    while let Some(at) = rest.find(special) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let mut tail = tail.chars();
        match tail.next() {
            Some('&') => out.push_str("&amp;"),
            Some('<') => out.push_str("&lt;"),
            Some('>') => out.push_str("&gt;"),
            Some('"') => out.push_str("&quot;"),
            _ => {}
        }
        rest = tail.as_str();
    }
    out.push_str(rest);
}

/// Whether XML 1.0 allows the character (its production `Char`).
fn is_xml_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// Whether a text contains tags or references, so that a reader may take it for HTML.
pub(crate) fn looks_like_html(text: &str) -> bool {
    let tag = text.match_indices('<').any(|(at, _)| {
        text[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!'))
    });
    let reference = text.match_indices('&').any(|(at, _)| {
        let tail: String = text[at + 1..].chars().take(12).collect();
        tail.find(';').is_some_and(|end| {
            end > 0 && tail[..end].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'#')
        })
    });
    tag || reference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, expect: &str) {
        assert_eq!(unescape(raw, 0, &mut Warnings::default()), expect);
    }

    #[test]
    fn predefined_html_and_numeric_references_are_resolved() {
        check("a &amp; b &lt;c&gt; &quot;&apos;", "a & b <c> \"'");
        check("caf&eacute;&nbsp;&#8217;&#x2019;&#0039;", "caf\u{e9}\u{a0}\u{2019}\u{2019}'");
        check("&#150;&#x85;", "\u{2013}\u{2026}");
        check("&alpha;&Alpha;&NotEqualTilde;", "\u{3b1}\u{391}\u{2242}\u{338}");
    }

    #[test]
    fn what_is_no_reference_stays_as_written() {
        check("R&D & &unknown; &; &#; a?b=1&c=2", "R&D & &unknown; &;  a?b=1&c=2");
        check("&amp", "&amp");
        check("&#0;&#xFFFFFFFF;&#xD800;", "");
    }

    #[test]
    fn what_xml_forbids_is_left_out_of_texts_and_attributes() {
        let dirty = "a\u{0}\u{1b}\u{fffe}\u{ffff}\t<\"&>\u{85}\u{fffd}\u{1f600}";
        let (mut text, mut attribute) = (String::new(), String::new());
        escape_text(dirty, &mut text);
        escape_attribute(dirty, &mut attribute);
        assert_eq!(text, "a\t&lt;\"&amp;&gt;\u{85}\u{fffd}\u{1f600}");
        assert_eq!(attribute, text.replace('"', "&quot;"));
    }
}
