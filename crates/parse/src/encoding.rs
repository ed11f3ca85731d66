//! Decodes bytes to text. It trusts, in this order: the byte order mark, HTTP, the XML declaration,
//! and the bytes themselves (UTF-8 if they are valid, else windows-1252). A claim that the bytes
//! contradict is dropped with a warning. It does not guess by language or statistics.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    /// A sentence about a wrong claim of the encoding.
    pub(crate) warning: Option<String>,
}

/// The part of a document that is searched for its XML declaration, with the junk before it.
const DECLARATION_BYTES_MAX: usize = 1024;

pub(crate) fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Decoded<'a> {
    if let Some(text) = by_shape(bytes) {
        return Decoded { text, warning: None };
    }
    let claims = [("HTTP", content_type.and_then(charset)), ("XML declaration", declared(bytes))];
    let mut warning = None;
    for (who, label) in claims {
        let Some(label) = label else { continue };
        match by_label(bytes, &label) {
            Ok(text) => return Decoded { text, warning },
            Err(why) => {
                let said = format!("encoding: the {who} says `{label}`, but {why}");
                warning.get_or_insert(said);
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Decoded { text: Cow::Borrowed(text), warning };
    }
    if let Some(text) = mostly(bytes, UTF_8) {
        warning.get_or_insert("encoding: some bytes are not UTF-8 and were replaced".to_owned());
        return Decoded { text, warning };
    }
    warning.get_or_insert("encoding: none given and not UTF-8, read as windows-1252".to_owned());
    Decoded { text: WINDOWS_1252.decode_without_bom_handling(bytes).0, warning }
}

/// Whether these bytes are UTF-16 or UTF-32. Their zero bytes do not mean binary data.
pub(crate) fn is_wide(bytes: &[u8]) -> bool {
    !bytes.starts_with(&[0xef, 0xbb, 0xbf]) && by_shape(&bytes[..bytes.len().min(4)]).is_some()
}

/// Recognises byte order marks, and the zero bytes around `<` or `{` that only UTF-16 and UTF-32
/// have.
fn by_shape(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => Some(String::from_utf8_lossy(rest)),
        [0xff, 0xfe, 0, 0, rest @ ..] => Some(utf_32(rest, u32::from_le_bytes)),
        [0, 0, 0xfe, 0xff, rest @ ..] => Some(utf_32(rest, u32::from_be_bytes)),
        [0, 0, 0, b'<' | b'{', ..] => Some(utf_32(bytes, u32::from_be_bytes)),
        [b'<' | b'{', 0, 0, 0, ..] => Some(utf_32(bytes, u32::from_le_bytes)),
        [0xff, 0xfe, rest @ ..] => Some(UTF_16LE.decode_without_bom_handling(rest).0),
        [0xfe, 0xff, rest @ ..] => Some(UTF_16BE.decode_without_bom_handling(rest).0),
        [0, b'<' | b'{', 0, ..] => Some(UTF_16BE.decode_without_bom_handling(bytes).0),
        [b'<' | b'{', 0, b, 0, ..] if *b != 0 => {
            Some(UTF_16LE.decode_without_bom_handling(bytes).0)
        }
        _ => None,
    }
}

fn utf_32(bytes: &[u8], read: fn([u8; 4]) -> u32) -> Cow<'_, str> {
    let (units, tail) = bytes.as_chunks::<4>();
    let mut text: String = units
        .iter()
        .map(|unit| char::from_u32(read(*unit)).unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    if !tail.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    Cow::Owned(text)
}

fn by_label<'a>(bytes: &'a [u8], label: &str) -> Result<Cow<'a, str>, &'static str> {
    let spelled = label.trim().replace('_', "-");
    let encoding = Encoding::for_label(spelled.as_bytes())
        .or_else(|| Encoding::for_label(label.trim().as_bytes()))
        .ok_or("this encoding is unknown")?;
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return Err("the bytes are not UTF-16");
    }
    if encoding == UTF_8 {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Ok(Cow::Borrowed(text));
        }
        return Err("the bytes are not UTF-8");
    }
    mostly(bytes, encoding).ok_or("the bytes do not fit")
}

/// Decodes the text, if few characters had to be replaced: at most one in twenty of those beyond
/// ASCII. A damaged byte must not make the rest unreadable.
fn mostly<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Option<Cow<'a, str>> {
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    if !had_errors {
        return Some(text);
    }
    let beyond_ascii = text.chars().filter(|c| !c.is_ascii()).count();
    let replaced = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    // Other encodings rarely look like UTF-8, so a few valid sequences are proof enough.
    let enough =
        if encoding == UTF_8 { replaced * 2 < beyond_ascii } else { replaced * 20 <= beyond_ascii };
    enough.then_some(text)
}

/// Returns the `charset` parameter of a Content-Type.
fn charset(content_type: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    })
}

/// Returns the `encoding` of an XML declaration.
fn declared(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(DECLARATION_BYTES_MAX)];
    let start = head.windows(5).position(|w| w == b"<?xml")?;
    let head = &head[start..];
    let end = head.iter().position(|b| *b == b'>')?;
    let head = std::str::from_utf8(&head[..end]).ok()?;
    let after = head.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = after[1..].split(quote).next()?.trim();
    (!label.is_empty()).then(|| label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], content_type: Option<&str>, expect: &str, warned: bool) {
        let decoded = decode(bytes, content_type);
        assert_eq!(decoded.text, expect);
        assert_eq!(decoded.warning.is_some(), warned, "{:?}", decoded.warning);
    }

    #[test]
    fn the_order_of_trust_is_mark_then_http_then_declaration_then_bytes() {
        check(b"\xef\xbb\xbf\xc3\xa9", Some("text/xml; charset=koi8-r"), "\u{e9}", false);
        let declared = b"<?xml version='1.0' encoding='koi8-r'?>\xd1";
        check(declared, None, "<?xml version='1.0' encoding='koi8-r'?>\u{44f}", false);
        check(
            declared,
            Some("text/xml; charset=\"ISO-8859-1\""),
            "<?xml version='1.0' encoding='koi8-r'?>\u{d1}",
            false,
        );
        check(b"caf\xc3\xa9", None, "caf\u{e9}", false);
        check(b"caf\xe9 \x93x\x94", None, "caf\u{e9} \u{201c}x\u{201d}", true);
    }

    #[test]
    fn a_wrong_claim_falls_back_with_a_warning() {
        check(b"<?xml encoding='utf-8'?>caf\xe9", None, "<?xml encoding='utf-8'?>caf\u{e9}", true);
        check(b"<?xml encoding='nonsense'?>x", None, "<?xml encoding='nonsense'?>x", true);
        check(b"<?xml encoding='utf-16'?>x", None, "<?xml encoding='utf-16'?>x", true);
    }

    #[test]
    fn one_damaged_byte_does_not_spoil_the_rest() {
        let mut bytes = "é".repeat(40).into_bytes();
        bytes.push(0xff);
        check(&bytes, None, &("é".repeat(40) + "\u{fffd}"), true);
    }

    #[test]
    fn wide_encodings_are_seen_without_a_mark() {
        check(b"<\0a\0", None, "<a", false);
        check(b"\0<\0a", None, "<a", false);
        check(b"\0\0\0<\0\0\0a", None, "<a", false);
        check(b"<\0\0\0a\0\0\0", None, "<a", false);
        check(b"\xff\xfe<\0a\0", None, "<a", false);
        check(b"\xff\xfe\0\0<\0\0\0", None, "<", false);
    }

    #[test]
    fn multibyte_encodings_of_the_east_are_read() {
        for (label, text) in
            [("gbk", "中文"), ("big5", "中文"), ("euc-jp", "日本"), ("euc-kr", "한국")]
        {
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            let bytes = encoding.encode(text).0;
            check(&bytes, Some(&format!("text/xml;charset={label}")), text, false);
        }
    }
}
