//! Makes relative links absolute, in fields and inside HTML. Absolute links stay as the publisher
//! wrote them. It does not remove or forbid anything; the sanitiser does.

use std::borrow::Cow;

use url::Url;

use crate::attribute::value;
use crate::entity::escape_attribute;
use crate::room::GrowthBudget;
use crate::scan::is_space;

/// A longer base is an attack. Each relative address grows by the length of its base: a megabyte of
/// `xml:base` over ten thousand items makes ten gigabytes of links.
const BASE_BYTES_MAX: usize = 512;

/// Returns the document's own address as a base. Relative addresses use only its path, so a long
/// query string is left out.
pub(crate) fn outermost(url: &Url) -> Option<Cow<'_, Url>> {
    if is_short(url) {
        return Some(Cow::Borrowed(url));
    }
    let mut bare = url.clone();
    bare.set_query(None);
    bare.set_fragment(None);
    is_short(&bare).then_some(Cow::Owned(bare))
}

fn is_short(base: &Url) -> bool {
    base.as_str().len() <= BASE_BYTES_MAX
}

/// Returns a link, made absolute if a base is known and there is room for it.
pub(crate) fn link(text: &str, base: Option<&Url>, room: &GrowthBudget) -> String {
    // Line breaks inside an address come from wrapped source text.
    let joined: Cow<'_, str> = if text.contains(['\n', '\r', '\t']) {
        Cow::Owned(text.split(['\n', '\r', '\t']).map(str::trim).collect())
    } else {
        Cow::Borrowed(text.trim())
    };
    if is_absolute(&joined) || !room.has_links() {
        return joined.into_owned();
    }
    match base.and_then(|base| base.join(&joined).ok()) {
        Some(url) if room.grow(joined.len(), url.as_str().len()) => url.into(),
        _ => joined.into_owned(),
    }
}

/// Whether a text begins with a scheme (`https:`, `mailto:`, `tag:`).
pub(crate) fn is_absolute(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// Whether a text is a web address.
pub(crate) fn is_web(text: &str) -> bool {
    let head = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    (head.starts_with("http://") || head.starts_with("https://"))
        && !text.contains(char::is_whitespace)
}

/// Returns the base that an `xml:base` attribute sets. It must be a web address of reasonable
/// length.
pub(crate) fn base(text: &str, outer: Option<&Url>) -> Option<Url> {
    let text = text.trim();
    let joined = match outer {
        Some(outer) => outer.join(text).ok()?,
        None => Url::parse(text).ok()?,
    };
    (matches!(joined.scheme(), "http" | "https") && is_short(&joined)).then_some(joined)
}

/// Whether an HTML attribute holds one address.
pub(crate) fn holds_address(name: &str) -> bool {
    ["href", "src", "cite", "action", "longdesc", "poster", "data", "background", "usemap"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns HTML with absolute addresses; every other byte is unchanged. Addresses that do
/// not fit stay as written.
pub(crate) fn markup(html: String, base: Option<&Url>, room: &GrowthBudget) -> String {
    let Some(base) = base else { return html };
    let mut out = String::new();
    let mut absolute = String::new();
    // The length of the whole text with the addresses replaced so far.
    let mut len = html.len();
    let mut done = 0;
    let mut at = 0;
    while room.has_links()
        && let Some(found) = html[at..].find('<')
    {
        at += found + 1;
        if !html[at..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let end = at + html[at..].find('>').unwrap_or(html.len() - at);
        for (range, raw) in addresses(&html, at, end) {
            let old = value(raw);
            let trimmed = old.trim();
            if trimmed.starts_with('#') || is_absolute(trimmed) || trimmed.is_empty() {
                continue;
            }
            let Ok(new) = base.join(trimmed) else { continue };
            absolute.clear();
            escape_attribute(new.as_str(), &mut absolute);
            let grown = len - range.len() + absolute.len();
            if !room.grow(len, grown) {
                continue;
            }
            len = grown;
            out.push_str(&html[done..range.start]);
            out.push_str(&absolute);
            done = range.end;
        }
        at = end;
    }
    if done == 0 {
        return html;
    }
    out.push_str(&html[done..]);
    out
}

/// Returns the values of address attributes between two offsets of a tag, with their positions.
fn addresses(html: &str, start: usize, end: usize) -> Vec<(std::ops::Range<usize>, &str)> {
    let tag = &html[start..end];
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(equals) = tag[at..].find('=') {
        let before = tag[..at + equals].trim_end_matches(is_space);
        let name = before.rsplit(|c: char| is_space(c) || matches!(c, '"' | '\'' | '/')).next();
        let spaces = tag[at + equals + 1..].len()
            - tag[at + equals + 1..].trim_start_matches(is_space).len();
        let mut from = at + equals + 1 + spaces;
        let body = &tag[from..];
        let len = match body.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                from += 1;
                body[1..].find(quote).unwrap_or(body.len() - 1)
            }
            _ => body.find(is_space).unwrap_or(body.len()),
        };
        if name.is_some_and(holds_address) {
            found.push((start + from..start + from + len, &tag[from..from + len]));
        }
        at = (from + len).max(at + equals + 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> GrowthBudget {
        GrowthBudget::new(1000, &crate::Limits::default())
    }

    fn base_url() -> Url {
        Url::parse("http://example.org/dir/feed.xml").unwrap()
    }

    #[track_caller]
    fn check(html: &str, expect: &str) {
        assert_eq!(markup(html.to_owned(), Some(&base_url()), &room()), expect);
    }

    #[test]
    fn relative_addresses_in_html_become_absolute_and_nothing_else_changes() {
        check("<a href=\"/x\">y</a> & <br>", "<a href=\"http://example.org/x\">y</a> & <br>");
        check(
            "<A  HREF='x?a=1&amp;b' title=\"href=/y\">",
            "<A  HREF='http://example.org/dir/x?a=1&amp;b' title=\"href=/y\">",
        );
        check("<img src=p.png alt>", "<img src=http://example.org/dir/p.png alt>");
        check("<a href=\"#n\">", "<a href=\"#n\">");
        check("<a href=\"mailto:x@y\">", "<a href=\"mailto:x@y\">");
        check("1 < 2 href=/x <a href=\"/é", "1 < 2 href=/x <a href=\"http://example.org/%C3%A9");
    }

    #[test]
    fn absolute_links_keep_their_spelling() {
        assert_eq!(link(" HTTP://Example.org ", Some(&base_url()), &room()), "HTTP://Example.org");
        assert_eq!(link("tag:x,2004:1", Some(&base_url()), &room()), "tag:x,2004:1");
        assert_eq!(link("../a b", Some(&base_url()), &room()), "http://example.org/a%20b");
        assert_eq!(link("/a", None, &room()), "/a");
        assert_eq!(link("http://e.org/\n  a", None, &room()), "http://e.org/a");
    }

    #[test]
    fn only_web_addresses_become_a_base() {
        assert!(base("javascript:alert(1)", Some(&base_url())).is_none());
        assert_eq!(
            base("sub/", Some(&base_url())).unwrap().as_str(),
            "http://example.org/dir/sub/"
        );
    }
}
