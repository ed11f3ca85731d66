//! Limits the attributes of a tag. The tokenizer compares each attribute of a tag with all before
//! it, so one tag with 100,000 attributes takes seconds. A tag with too many loses all of them.

use std::borrow::Cow;

/// Attributes of one tag. Real pages have at most 70.
const ATTRIBUTES_MAX: usize = 256;

/// The bytes that may be scanned, as a multiple of the text. A tag inside the quotes of another is
/// scanned again; a page with many of them is an attack.
const SCANS_MAX: usize = 8;

/// Returns the text with limited tags, or nothing if scanning it takes too long.
///
/// Tags in comments and scripts count too, since only a parser could tell where those end. Losing
/// attributes there changes nothing that a reader sees.
pub fn limited(text: &str) -> Option<Cow<'_, str>> {
    let mut budget = text.len().saturating_mul(SCANS_MAX).saturating_add(64 * 1024);
    let (mut kept, mut done, mut at) = (String::new(), 0, 0);
    while let Some(found) = text[at..].find('<') {
        let open = at + found;
        at = open + 1;
        let Some(tag) = ScannedTag::read(&text.as_bytes()[open..]) else { continue };
        budget = budget.checked_sub(tag.len)?;
        if tag.n_attributes > ATTRIBUTES_MAX {
            kept.push_str(&text[done..open + tag.name_end]);
            kept.push('>');
            done = open + tag.len;
            at = done;
        }
    }
    if done == 0 {
        return Some(Cow::Borrowed(text));
    }
    kept.push_str(&text[done..]);
    Some(Cow::Owned(kept))
}

/// The extent of a tag.
struct ScannedTag {
    name_end: usize,
    n_attributes: usize,
    /// The bytes from `<` to `>`, or to the end of the text.
    len: usize,
}

/// The state of the scanner inside a tag (HTML standard, 13.2.5.32 to 13.2.5.40).
#[derive(Clone, Copy)]
enum ScanState {
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    Unquoted,
    Quoted(u8),
}

impl ScannedTag {
    /// Reads the tag at the beginning of `bytes`, which begin with `<`.
    fn read(bytes: &[u8]) -> Option<ScannedTag> {
        let first = if bytes.get(1) == Some(&b'/') { 2 } else { 1 };
        bytes.get(first).filter(|byte| byte.is_ascii_alphabetic())?;
        let ends_name = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>');
        let name_end = bytes[first..].iter().position(ends_name).map_or(bytes.len(), |n| first + n);
        let mut tag = ScannedTag { name_end, n_attributes: 0, len: bytes.len() };
        let mut state = ScanState::BeforeName;
        for (at, &byte) in bytes.iter().enumerate().skip(name_end) {
            state = match (state, byte) {
                (ScanState::Quoted(quote), _) if byte == quote => ScanState::BeforeName,
                (ScanState::Quoted(_), _) => state,
                (ScanState::BeforeValue, b'"' | b'\'') => ScanState::Quoted(byte),
                (_, b'>') => {
                    tag.len = at + 1;
                    break;
                }
                (ScanState::BeforeValue, _) if is_space(byte) => state,
                (ScanState::Unquoted, _) if is_space(byte) => ScanState::BeforeName,
                (ScanState::BeforeValue | ScanState::Unquoted, _) => ScanState::Unquoted,
                (_, b'/') => ScanState::BeforeName,
                (ScanState::Name | ScanState::AfterName, b'=') => ScanState::BeforeValue,
                (ScanState::Name | ScanState::AfterName, _) if is_space(byte) => {
                    ScanState::AfterName
                }
                (ScanState::Name, _) => state,
                (ScanState::BeforeName, _) if is_space(byte) => state,
                (ScanState::BeforeName | ScanState::AfterName, _) => {
                    tag.n_attributes += 1;
                    ScanState::Name
                }
            };
        }
        Some(tag)
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(n: usize) -> String {
        (0..n).map(|n| format!(" a{n}=\">\"")).collect()
    }

    #[test]
    fn a_tag_with_too_many_attributes_loses_them() {
        let page = format!("<p>x</p><a{}>y</a>", many(100_000));
        assert_eq!(limited(&page).unwrap(), "<p>x</p><a>y</a>");
        let page = format!("<a{}>y</a>", many(ATTRIBUTES_MAX));
        assert_eq!(limited(&page).unwrap(), page);
    }

    #[test]
    fn quotes_in_comments_and_scripts_hide_no_tag() {
        for before in ["<!-- <x a=\" -->", "<script>a<b c='</script>", "<svg><title><i j=\""] {
            let page = format!("{before}<a{}>y", many(1000));
            assert!(limited(&page).unwrap().len() < before.len() + 40, "{before}");
        }
    }

    #[test]
    fn tags_in_the_quotes_of_tags_end_the_scan() {
        assert!(limited(&"<a b='".repeat(100_000)).is_some(), "each closes the one before");
        assert!(limited(&"<a b=\"'".repeat(100_000)).is_some());
        assert!(limited(&"<a ".repeat(100_000)).is_some_and(|text| text.len() < 1000));
        let quoted = format!("<a b=\"{}", "<a b='\"".repeat(100_000));
        assert!(limited(&quoted).is_some());
        assert!(limited(&"<a".repeat(100_000)).is_none(), "each name reaches the end");
    }
}
