//! Bytes of a page to text. The order of trust is: byte order mark, HTTP header, `<meta>` in the
//! first 1,024 bytes, the bytes themselves (UTF-8 if they are, else windows-1252). A charset that
//! the bytes contradict is ignored.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::limits::PAGE_BYTES_MAX;
use crate::refusal::NoArticle;

/// How far into a page its own declaration is searched, as browsers do.
const META_BYTES_MAX: usize = 1024;

/// Characters beyond ASCII in valid UTF-8 that count more than a declared charset. Pages that were
/// converted often keep their old declaration.
const UTF_8_CHARS_MIN: usize = 8;

/// Returns the text of a page. `content_type` is the HTTP header.
pub fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Result<Cow<'a, str>, NoArticle> {
    if bytes.len() > PAGE_BYTES_MAX {
        return Err(NoArticle::TooLarge { n_bytes: bytes.len() });
    }
    if let Some((encoding, mark_len)) = Encoding::for_bom(bytes) {
        return Ok(encoding.decode_without_bom_handling(&bytes[mark_len..]).0);
    }
    // Zero bytes at the beginning mean binary data, or UTF-16 without a mark.
    let head = &bytes[..bytes.len().min(META_BYTES_MAX)];
    if head.contains(&0) {
        return wide(bytes).ok_or(NoArticle::NotHtml);
    }
    // Long texts in other charsets are never valid UTF-8 by chance.
    if let Ok(text) = std::str::from_utf8(bytes)
        && text.chars().filter(|c| !c.is_ascii()).take(UTF_8_CHARS_MIN).count() == UTF_8_CHARS_MIN
    {
        return Ok(Cow::Borrowed(text));
    }
    let labels = [content_type.and_then(charset_parameter), meta_charset(head)];
    for label in labels.into_iter().flatten() {
        if let Some(text) = by_label(bytes, &label) {
            return Ok(text);
        }
    }
    if let Some(text) = mostly(bytes, UTF_8) {
        return Ok(text);
    }
    Ok(WINDOWS_1252.decode_without_bom_handling(bytes).0)
}

/// Returns the bytes of a page in a form that reads the same without the HTTP header. If only the
/// header names their charset, they become UTF-8 with a byte order mark. Else they stay the same.
pub fn self_contained<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Cow<'a, [u8]> {
    match (decode(bytes, content_type), decode(bytes, None)) {
        (Ok(with), Ok(without)) if with != without => {
            let mark = [0xef, 0xbb, 0xbf];
            Cow::Owned([mark.as_slice(), with.as_bytes()].concat())
        }
        _ => Cow::Borrowed(bytes),
    }
}

/// UTF-16 without a byte order mark shows in the zero byte next to the first `<`.
fn wide(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let encoding = match bytes {
        [b'<', 0, ..] => UTF_16LE,
        [0, b'<', ..] => UTF_16BE,
        _ => return None,
    };
    Some(encoding.decode_without_bom_handling(bytes).0)
}

fn by_label<'a>(bytes: &'a [u8], label: &str) -> Option<Cow<'a, str>> {
    let encoding = Encoding::for_label(label.trim().as_bytes())?;
    // A page whose `<meta>` can be read as ASCII is not UTF-16. Browsers take UTF-8 then.
    let encoding = encoding.output_encoding();
    mostly(bytes, encoding)
}

/// Returns the text, unless more than one in twenty of the characters beyond ASCII is invalid. One
/// damaged byte must not make the rest unreadable.
fn mostly<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Option<Cow<'a, str>> {
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    if !had_errors {
        return Some(text);
    }
    let n_beyond_ascii = text.chars().filter(|c| !c.is_ascii()).count();
    let n_replaced = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    // Other encodings rarely look like UTF-8, so a few valid sequences prove it.
    let factor = if encoding == UTF_8 { 2 } else { 20 };
    (n_replaced * factor <= n_beyond_ascii).then_some(text)
}

/// Returns the `charset` parameter of a Content-Type.
fn charset_parameter(content_type: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    })
}

/// Returns the charset of the first `<meta>` that names one: `<meta charset=…>`, or the one in
/// `<meta http-equiv=Content-Type content="text/html; charset=…">`.
fn meta_charset(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    head.split("<meta").skip(1).find_map(|after| {
        let tag = after.split('>').next()?;
        let value = tag.split_once("charset")?.1.trim_start().strip_prefix('=')?.trim_start();
        let label: String = value
            .trim_start_matches(['"', '\''])
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
            .collect();
        (!label.is_empty()).then_some(label)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], content_type: Option<&str>, expect: &str) {
        assert_eq!(decode(bytes, content_type).unwrap(), expect);
    }

    #[test]
    fn the_order_of_trust_is_mark_then_header_then_meta_then_bytes() {
        check(b"\xef\xbb\xbf\xc3\xa9", Some("text/html; charset=koi8-r"), "é");
        check(b"\xff\xfe<\0a\0", None, "<a");
        check(b"<meta charset=koi8-r>\xd1", Some("text/html; Charset=\"iso-8859-1\""), {
            "<meta charset=koi8-r>Ñ"
        });
        check(b"<META CHARSET = 'koi8-r'>\xd1", Some("text/html"), "<META CHARSET = 'koi8-r'>я");
        let old = b"<meta name=a><meta http-equiv=x content='text/html; charset=gb2312'>\xd6\xd0";
        assert!(decode(old, None).unwrap().ends_with('中'));
        check(b"caf\xc3\xa9", None, "café");
        check(b"caf\xe9 \x93x\x94", None, "café “x”");
    }

    #[test]
    fn a_page_that_is_kept_reads_the_same_without_its_header() {
        let koi8 = b"<p>\xf7\xcf\xd4</p>";
        let header = Some("text/html; charset=koi8-r");
        assert_eq!(decode(koi8, header).unwrap(), "<p>Вот</p>");
        let kept = self_contained(koi8, header);
        assert_eq!(decode(&kept, None).unwrap(), "<p>Вот</p>");
        let declared = b"<meta charset=koi8-r><p>\xf7\xcf\xd4</p>";
        assert_eq!(self_contained(declared, header), declared.as_slice(), "as it came");
    }

    #[test]
    fn a_wrong_charset_is_ignored() {
        check("<p>Käse</p>".as_bytes(), Some("text/html; charset=nonsense"), "<p>Käse</p>");
        check(b"<p>K\xe4se</p>", Some("text/html; charset=utf-8"), "<p>Käse</p>");
        check(
            "<meta charset=gbk>人工智能迈上新台阶".as_bytes(),
            Some("text/html; charset=gbk"),
            "<meta charset=gbk>人工智能迈上新台阶",
        );
        check(b"<meta charset=utf-16><p>a", None, "<meta charset=utf-16><p>a");
        let mut damaged = "é".repeat(40).into_bytes();
        damaged.push(0xff);
        check(&damaged, None, &("é".repeat(40) + "\u{fffd}"));
    }

    #[test]
    fn binary_data_and_large_pages_are_refused() {
        assert_eq!(decode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None), Err(NoArticle::NotHtml));
        let large = vec![b'a'; PAGE_BYTES_MAX + 1];
        assert!(matches!(decode(&large, None), Err(NoArticle::TooLarge { .. })));
        check(b"<\0p\0>\0", None, "<p>");
    }
}
