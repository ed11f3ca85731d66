//! Reads the attributes of a tag, quoted or not. It does not resolve namespaces.

use std::borrow::Cow;

use crate::entity::unescape;
use crate::scan::is_space;
use crate::warning::Warnings;

/// The attributes of one tag. Each lookup reads the tag again, because most tags need only one or
/// two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes<'a> {
    raw: &'a str,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(raw: &'a str) -> Attributes<'a> {
        Attributes { raw }
    }

    /// Whether any attribute may be one of XML itself (`xmlns`, `xml:base`, `xml:lang`).
    pub(crate) fn mention_xml(&self) -> bool {
        self.raw.contains("xml")
    }

    /// Returns names and raw values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        AttributePairs { rest: self.raw }
    }

    /// Returns the value of the attribute with this local name. Prefix and case do not matter.
    pub(crate) fn get(&self, local: &str) -> Option<Cow<'a, str>> {
        if self.raw.is_empty() {
            return None;
        }
        self.iter()
            .find(|(name, _)| {
                let name = name.rsplit(':').next().unwrap_or(name);
                name.eq_ignore_ascii_case(local)
            })
            .map(|(_, raw)| value(raw))
    }

    /// Like [`Attributes::get`], but trimmed, and `None` for an empty value.
    pub(crate) fn text(&self, local: &str) -> Option<String> {
        let value = self.get(local)?;
        let trimmed = value.trim();
        (!trimmed.is_empty()).then(|| trimmed.to_owned())
    }
}

/// Returns an attribute's value with its references resolved. Faults in attributes are not counted,
/// because most addresses contain a bare `&`.
pub(crate) fn value(raw: &str) -> Cow<'_, str> {
    unescape(raw, 0, &mut Warnings::default())
}

struct AttributePairs<'a> {
    rest: &'a str,
}

impl<'a> Iterator for AttributePairs<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        let rest =
            self.rest.trim_start_matches(|c| is_space(c) || matches!(c, '/' | '=' | '"' | '\''));
        if rest.is_empty() {
            self.rest = rest;
            return None;
        }
        let name_end = rest.find(|c| is_space(c) || c == '=').unwrap_or(rest.len());
        let (name, after) = rest.split_at(name_end);
        let after = after.trim_start_matches(is_space);
        let Some(after) = after.strip_prefix('=') else {
            self.rest = after;
            return Some((name, ""));
        };
        let after = after.trim_start_matches(is_space);
        for quote in ['"', '\''] {
            if let Some(body) = after.strip_prefix(quote) {
                let end = body.find(quote).unwrap_or(body.len());
                self.rest = body.get(end + 1..).unwrap_or("");
                return Some((name, &body[..end]));
            }
        }
        let end = after.find(is_space).unwrap_or(after.len());
        self.rest = &after[end..];
        Some((name, &after[..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, expect: &[(&str, &str)]) {
        assert_eq!(Attributes::new(raw).iter().collect::<Vec<_>>(), expect);
    }

    #[test]
    fn quoted_bare_and_valueless_attributes_are_read() {
        check(" a='1' b=\"2\" c=3 d", &[("a", "1"), ("b", "2"), ("c", "3"), ("d", "")]);
        check(" href=http://e.org/?a=b x = 'y'", &[("href", "http://e.org/?a=b"), ("x", "y")]);
        check(" a=\"open", &[("a", "open")]);
        check(" a='1'b='2' \" ", &[("a", "1"), ("b", "2")]);
    }

    #[test]
    fn names_match_without_prefix_and_case() {
        let attrs = Attributes::new(" rdf:About='x&amp;y' ");
        assert_eq!(attrs.text("about").as_deref(), Some("x&y"));
        assert_eq!(attrs.text("other"), None);
    }
}
