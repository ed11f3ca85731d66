//! Splits a text into tags, text and CDATA, even if its markup is broken.
//!
//! XML libraries stop at the first error, or they resume by scanning to the end again, which takes
//! quadratic time on hostile documents. This scanner always moves forward and examines each byte a
//! bounded number of times. It knows nothing about namespaces, entities or feeds, and never opens a
//! resource that a DTD names.

use crate::warning::{Defect, Warnings};

/// A piece of markup. All parts are slices of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkupToken<'a> {
    Start { name: &'a str, attrs: &'a str, empty: bool },
    End { name: &'a str },
    Text(&'a str),
    Cdata(&'a str),
}

pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    start: usize,
    absent: Absent,
}

/// End marks that do not occur in the rest of the text. Otherwise a document with many opened
/// comments would be searched to its end for each of them.
#[derive(Default)]
struct Absent {
    comment: bool,
    cdata: bool,
    instruction: bool,
    doctype: bool,
    quotes: [bool; 2],
    /// The next offset of each of [`CDATA_ENDS`], as far as the scanner has searched.
    cdata_ends: [usize; CDATA_ENDS.len()],
}

/// End tags of feeds, which never occur inside CDATA. They end a CDATA section that lacks its own
/// end.
const CDATA_ENDS: [&str; 5] =
    ["</description>", "</content:encoded>", "</title>", "</summary>", "</content>"];

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, at: usize) -> Scanner<'a> {
        Scanner { text, at, start: at, absent: Absent::default() }
    }

    /// Skips everything before `at`. `at` must not be before the end of the last token.
    pub(crate) fn skip_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Returns the offset at which the last token ended.
    pub(crate) fn token_end(&self) -> usize {
        self.at
    }

    /// Returns the offset at which the last token began.
    pub(crate) fn token_start(&self) -> usize {
        self.start
    }

    pub(crate) fn next(&mut self, warnings: &mut Warnings) -> Option<MarkupToken<'a>> {
        loop {
            self.start = self.at;
            let rest = &self.text[self.at..];
            if rest.is_empty() {
                return None;
            }
            if !opens_markup(rest) {
                return Some(self.text_run(warnings));
            }
            let token = match rest.as_bytes().get(1) {
                Some(b'/') => self.end_tag(warnings),
                Some(b'!') => self.declaration(rest, warnings),
                Some(b'?') => self.instruction(rest, warnings),
                _ => self.start_tag(rest, warnings),
            };
            if token.is_some() {
                return token;
            }
        }
    }

    fn text_run(&mut self, warnings: &mut Warnings) -> MarkupToken<'a> {
        let rest = &self.text[self.at..];
        let mut end = 0;
        loop {
            match rest[end..].find('<') {
                None => break end = rest.len(),
                Some(offset) => {
                    end += offset;
                    if opens_markup(&rest[end..]) {
                        break;
                    }
                    warnings.note(Defect::StrayAngle, self.at + end);
                    end += 1;
                }
            }
        }
        self.at += end;
        MarkupToken::Text(&rest[..end])
    }

    fn end_tag(&mut self, warnings: &mut Warnings) -> Option<MarkupToken<'a>> {
        let inner = &self.text[self.at + 2..];
        let end = inner.find(['>', '<']).unwrap_or(inner.len());
        let closed = inner[end..].starts_with('>');
        if !closed {
            warnings.note(Defect::UnclosedTag, self.at);
        }
        self.at += 2 + end + usize::from(closed);
        let name = inner[..end].split(is_space).next().unwrap_or("");
        Some(MarkupToken::End { name })
    }

    fn start_tag(&mut self, rest: &'a str, warnings: &mut Warnings) -> Option<MarkupToken<'a>> {
        let (end, closed) = self.tag_end(rest);
        if !closed {
            warnings.note(Defect::UnclosedTag, self.at);
        }
        self.at += end + usize::from(closed);
        let inner = &rest[1..end];
        let (inner, empty) = match inner.strip_suffix('/') {
            // In `<a href=http://example.org/>` the slash belongs to the value.
            Some(cut) if !ends_in_bare_value(cut) => (cut, true),
            _ => (inner, false),
        };
        let name_end = inner.find(|c| is_space(c) || c == '/').unwrap_or(inner.len());
        let (name, attrs) = inner.split_at(name_end);
        Some(MarkupToken::Start { name, attrs, empty })
    }

    /// Returns the offset of the `>` that ends the tag at the start of `rest`, or the offset at
    /// which the tag is cut short.
    fn tag_end(&mut self, rest: &str) -> (usize, bool) {
        let bytes = rest.as_bytes();
        let mut i = 1;
        let mut after_equals = false;
        while i < bytes.len() {
            match bytes[i] {
                b'>' => return (i, true),
                b'<' => return (i, false),
                quote @ (b'"' | b'\'') if after_equals => {
                    match self.quoted(&rest[i + 1..], quote) {
                        Some(len) => i += len + 1,
                        None => after_equals = false,
                    }
                }
                b'=' => after_equals = true,
                b if b.is_ascii_whitespace() => {}
                _ => after_equals = false,
            }
            i += 1;
        }
        (bytes.len(), false)
    }

    /// Returns the length of a quoted value; `None` if its closing quote is missing.
    fn quoted(&mut self, value: &str, quote: u8) -> Option<usize> {
        let absent = &mut self.absent.quotes[usize::from(quote == b'\'')];
        if *absent {
            return None;
        }
        let Some(end) = value.find(char::from(quote)) else {
            *absent = true;
            return None;
        };
        // `"a <b> c"` is a careless value; `"a>text<b c="` is a value without its closing quote.
        match (value[..end].find('>'), value[..end].find('<')) {
            (Some(gt), Some(lt)) if gt < lt => None,
            _ => Some(end),
        }
    }

    fn declaration(&mut self, rest: &'a str, warnings: &mut Warnings) -> Option<MarkupToken<'a>> {
        if let Some(body) = rest.strip_prefix("<!--") {
            let end = if self.absent.comment { None } else { body.find("-->") };
            match end {
                Some(end) => self.at += 4 + end + 3,
                None => {
                    self.absent.comment = true;
                    warnings.note(Defect::UnclosedComment, self.at);
                    self.at += body.find('>').map_or(rest.len(), |e| 4 + e + 1);
                }
            }
            return None;
        }
        if let Some(body) = rest.strip_prefix("<![CDATA[") {
            return Some(self.cdata(body, warnings));
        }
        let end = if self.absent.doctype { None } else { doctype_end(rest) };
        match end {
            Some(end) => self.at += end + 1,
            None => {
                self.absent.doctype = true;
                warnings.note(Defect::UnclosedTag, self.at);
                self.at += rest.find('>').map_or(rest.len(), |e| e + 1);
            }
        }
        None
    }

    fn cdata(&mut self, body: &'a str, warnings: &mut Warnings) -> MarkupToken<'a> {
        let end = if self.absent.cdata { None } else { body.find("]]>") };
        if let Some(end) = end {
            self.at += 9 + end + 3;
            return MarkupToken::Cdata(&body[..end]);
        }
        self.absent.cdata = true;
        warnings.note(Defect::UnclosedCdata, self.at);
        let begin = self.at + 9;
        let mut end = self.text.len();
        for (tag, next) in CDATA_ENDS.iter().zip(&mut self.absent.cdata_ends) {
            if *next < begin {
                *next = body.find(tag).map_or(usize::MAX, |offset| begin + offset);
            }
            end = end.min(*next);
        }
        self.at = end;
        MarkupToken::Cdata(&self.text[begin..end])
    }

    fn instruction(&mut self, rest: &str, warnings: &mut Warnings) -> Option<MarkupToken<'a>> {
        let end = if self.absent.instruction { None } else { rest.find("?>") };
        match end {
            Some(end) => self.at += end + 2,
            None => {
                self.absent.instruction = true;
                warnings.note(Defect::UnclosedTag, self.at);
                self.at += rest.find('>').map_or(rest.len(), |e| e + 1);
            }
        }
        None
    }
}

/// Whether `rest` begins with markup and not with a stray `<`.
fn opens_markup(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    let starts_name = |b: u8| b.is_ascii_alphabetic() || b == b'_' || b >= 0x80;
    match bytes {
        [b'<', b'/', b, ..] => starts_name(*b),
        [b'<', b'!', b'-', b'-', ..] | [b'<', b'?', ..] => true,
        [b'<', b'!', b'[', ..] => rest.starts_with("<![CDATA["),
        [b'<', b'!', b, ..] => b.is_ascii_alphabetic(),
        [b'<', b, ..] => starts_name(*b),
        _ => false,
    }
}

/// Returns the offset of the `>` that ends a document type declaration. Its internal subset is
/// skipped.
fn doctype_end(rest: &str) -> Option<usize> {
    let mut quote = None;
    let mut depth = 0_usize;
    for (i, b) in rest.bytes().enumerate() {
        match (quote, b) {
            (Some(q), _) if q == b => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(b),
            (None, b'[') => depth += 1,
            (None, b']') => depth = depth.saturating_sub(1),
            (None, b'>') if depth == 0 => return Some(i),
            _ => {}
        }
    }
    None
}

fn ends_in_bare_value(inner: &str) -> bool {
    let last = inner.rsplit(is_space).next().unwrap_or("");
    last.split_once('=').is_some_and(|(_, value)| {
        !value.is_empty() && !value.starts_with(['"', '\'']) && value.contains('/')
    })
}

pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let mut warnings = Warnings::default();
        let mut scanner = Scanner::new(text, 0);
        let mut shown = Vec::new();
        while let Some(token) = scanner.next(&mut warnings) {
            shown.push(match token {
                MarkupToken::Start { name, attrs, empty } => {
                    format!("<{name}|{}|{}>", attrs.trim(), if empty { "/" } else { "" })
                }
                MarkupToken::End { name } => format!("</{name}>"),
                MarkupToken::Text(t) => format!("'{t}'"),
                MarkupToken::Cdata(t) => format!("[{t}]"),
            });
        }
        assert_eq!(shown.join(" "), expect);
    }

    #[test]
    fn proper_markup_is_cut_as_written() {
        check("<a b='c>d'>x<!-- y --><z/></a >", "<a|b='c>d'|> 'x' <z||/> </a>");
        check("<?xml version='1.0'?><!DOCTYPE r [<!ENTITY e '>'>]><r/>", "<r||/>");
        check("<t><![CDATA[<b>]]></t>", "<t||> [<b>] </t>");
    }

    #[test]
    fn stray_angles_are_text() {
        check("<t>1 < 2 <3 </t>", "<t||> '1 < 2 <3 ' </t>");
        check("a <", "'a <'");
        check("<!' x", "'<!' x'");
    }

    #[test]
    fn unclosed_things_end_where_a_reader_would_end_them() {
        check("<t <b>x</t", "<t||> <b||> 'x' </t>");
        check("<a href=\"u>x</a>", "<a|href=\"u|> 'x' </a>");
        check("<a href=\"u>x<b c=\"v\">", "<a|href=\"u|> 'x' <b|c=\"v\"|>");
        check("<d><![CDATA[x</description><b>", "<d||> [x] </description> <b||>");
        check("<!-- x ><b>", "<b||>");
    }

    #[test]
    fn a_slash_in_a_bare_value_is_not_an_empty_tag() {
        check("<a href=http://e.org/>", "<a|href=http://e.org/|>");
        check("<br clear=all/>", "<br|clear=all|/>");
    }
}
