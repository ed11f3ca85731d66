//! Estimates whether a long text is cheap to parse as HTML: its tags are not nested deeply, and
//! unclosed formatting does not multiply. It scans each tag once and changes nothing. In doubt the
//! answer is `false`, and the text is cut earlier.

use super::bounds::HtmlTag;

/// Nested elements. Articles nest about twelve, layout tables a few more. Many steps of the parser
/// walk over all open elements.
const DEPTH_MAX: usize = 256;

/// The bytes that unclosed formatting may add, beyond four times the text itself.
const REOPENED_BYTES_MIN: usize = 64 * 1024;

/// Elements that are never nested: they are empty, or end where the next one begins. This holds
/// inside foreign markup such as SVG too.
const FLAT: &str = "area base br col dd dt embed hr img input li link meta p source track wbr";

/// Whether a text nests no deeper than [`DEPTH_MAX`] and does not grow much when it is parsed.
pub fn is_cheap(text: &str) -> bool {
    let mut open: Vec<OpenElement<'_>> = Vec::new();
    // The bytes of open formatting tags, and the bytes that opening them again adds in total.
    let (mut formatting, mut reopened) = (0, 0_usize);
    let reopened_max = text.len().saturating_mul(4).saturating_add(REOPENED_BYTES_MIN);
    let mut at = 0;
    while let Some(found) = text[at..].find('<') {
        at += found + 1;
        let Some(tag) = HtmlTag::read(&text[at - 1..]) else { continue };
        at += tag.len - 1;
        if let Some(name) = tag.name.strip_prefix('/') {
            formatting -= close(&mut open, name);
            continue;
        }
        if tag.is_formatting() {
            formatting += tag.len;
        } else {
            reopened += formatting;
        }
        if !FLAT.split(' ').any(|flat| flat.eq_ignore_ascii_case(tag.name)) {
            let formatting = if tag.is_formatting() { tag.len } else { 0 };
            open.push(OpenElement { name: tag.name, formatting });
        }
        if open.len() > DEPTH_MAX || reopened > reopened_max {
            return false;
        }
    }
    true
}

/// Closes an element. Returns the bytes of its tag if it was a formatting element. Parsers ignore
/// some end tags, but never that of the last element. They also close a formatting element that
/// holds only formatting (`<b><i></b></i>`).
fn close(open: &mut Vec<OpenElement<'_>>, name: &str) -> usize {
    let is_it = |one: &OpenElement<'_>| one.name.eq_ignore_ascii_case(name);
    let crossed = open.iter().rev().take_while(|one| one.formatting > 0).position(is_it);
    match crossed {
        Some(above) => open.remove(open.len() - 1 - above).formatting,
        None => open.pop_if(|last| is_it(last)).map_or(0, |last| last.formatting),
    }
}

/// An open element.
struct OpenElement<'a> {
    name: &'a str,
    /// The bytes of its tag if the parser opens it again in every paragraph, else 0.
    formatting: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_tame_however_sloppy() {
        let prose = "<p>Some <b>bold</b> words<br>and <a href='x'>a link</a>.<p>Unclosed.<hr>";
        let list = "<ul><li>one<li>two</ul><img src=x>";
        let table = "<table><tr><td>a</td><td><i>b</i></td></tr></table>";
        let slips = "<b><i>crossed</b></i>".repeat(20);
        let text = format!(
            "<div><font size=2>{slips}{}</font></div>",
            [prose, list, table].concat().repeat(2000)
        );
        assert!(is_cheap(&text));
        assert!(is_cheap(""));
    }

    #[test]
    fn what_nests_without_end_is_not() {
        for piece in [
            "<div>",
            "<b>",
            "<svg><td>",
            "<div><table><tr><td></div>",
            "<section></x>",
            "<li><ul>",
            "<object><p>",
        ] {
            assert!(!is_cheap(&piece.repeat(300)), "{piece}");
        }
    }

    #[test]
    fn what_is_opened_again_in_every_paragraph_is_not() {
        let long = "x".repeat(5000);
        for before in [
            "<b>".repeat(200),
            format!("<b title={long}>"),
            format!("<b title={long}><table><td></b></table>"),
        ] {
            assert!(!is_cheap(&format!("{before}{}", "<p>x</p>".repeat(20_000))), "{before:.30}");
        }
        assert!(is_cheap(&format!("<b title=short>{}", "<p>word word word</p>".repeat(20_000))));
    }
}
