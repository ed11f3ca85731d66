//! Collects the text of one field, with its inline markup, until its element ends. It does not know
//! which field the value is for.

use std::borrow::Cow;

use url::Url;

use super::vocabulary::FeedField;
use crate::attribute::{Attributes, value};
use crate::entity::{escape_attribute, escape_text, looks_like_html, unescape, windows_1252};
use crate::namespace::Ns;
use crate::room::GrowthBudget;
use crate::warning::{Defect, Warnings};
use crate::{base64, resolve};

/// The meaning of the text of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextMode {
    /// A date, a link or a number: tags inside it are ignored.
    Value,
    /// Text without markup.
    Text,
    /// Text with escaped markup.
    Html,
    /// Text with inline markup. With `shell`, one `div` around all of it is only a wrapper, as Atom
    /// 1.0 says.
    Markup {
        shell: bool,
    },
    Base64,
}

impl TextMode {
    /// Returns the mode that `type` and `mode` of an Atom text construct select. RSS has neither:
    /// its texts are HTML.
    pub(super) fn of(attrs: Attributes<'_>, atom: bool, atom_1: bool) -> TextMode {
        let kind = attrs.text("type").map(|t| t.to_ascii_lowercase());
        let mode = attrs.text("mode").map(|m| m.to_ascii_lowercase());
        if mode.as_deref() == Some("base64") {
            return TextMode::Base64;
        }
        match kind.as_deref() {
            None if atom => TextMode::Text,
            None => TextMode::Html,
            Some("text" | "text/plain") if !atom => TextMode::Html,
            Some("html" | "text/html") if mode.as_deref() == Some("xml") => {
                TextMode::Markup { shell: false }
            }
            Some("html" | "text/html") => TextMode::Html,
            Some("xhtml") => TextMode::Markup { shell: atom_1 },
            Some(t) if t.ends_with("+xml") || t.ends_with("/xml") => {
                TextMode::Markup { shell: atom_1 }
            }
            Some(t) if t == "text" || t.starts_with("text/") || !t.contains('/') => TextMode::Text,
            Some(t) if t.ends_with("/json") || !atom => TextMode::Text,
            Some(_) => TextMode::Base64,
        }
    }
}

pub(super) struct Capture {
    pub(super) field: FeedField,
    pub(super) rank: u8,
    pub(super) depth: usize,
    mode: TextMode,
    /// The value of `isPermaLink`, for the field that has it.
    pub(super) permalink: bool,
    /// A value from an attribute. The element's text replaces it unless that text is empty.
    pub(super) given: Option<String>,
    text: String,
    bytes_max: usize,
    cut: bool,
    shell: Shell,
    /// Whether a `div` around escaped HTML, which some software adds, is open and left out.
    unwrapped: bool,
}

/// The position of the outermost `div` in the collected text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shell {
    #[default]
    None,
    Open(usize),
    Closed {
        from: usize,
        to: usize,
        after: usize,
    },
}

impl Capture {
    pub(super) fn new(
        field: FeedField,
        rank: u8,
        depth: usize,
        mode: TextMode,
        bytes_max: usize,
    ) -> Capture {
        Capture {
            field,
            rank,
            depth,
            mode,
            permalink: true,
            given: None,
            text: String::new(),
            bytes_max,
            cut: false,
            shell: Shell::None,
            unwrapped: false,
        }
    }

    pub(super) fn text(&mut self, raw: &str, offset: usize, warnings: &mut Warnings) {
        let plain = unescape(raw, offset, warnings);
        let clean = clean(&plain, offset, warnings);
        self.push_text(&clean, offset, warnings);
    }

    pub(super) fn cdata(&mut self, raw: &str, offset: usize, warnings: &mut Warnings) {
        let clean = clean(raw, offset, warnings);
        self.push_text(&clean, offset, warnings);
    }

    fn push_text(&mut self, text: &str, offset: usize, warnings: &mut Warnings) {
        if matches!(self.mode, TextMode::Markup { .. }) {
            let mut escaped = String::with_capacity(text.len());
            escape_text(text, &mut escaped);
            self.push(&escaped, offset, warnings);
        } else {
            self.push(text, offset, warnings);
        }
    }

    fn push(&mut self, text: &str, offset: usize, warnings: &mut Warnings) {
        if self.cut {
            return;
        }
        let room = self.bytes_max.saturating_sub(self.text.len());
        if text.len() > room {
            self.cut = true;
            warnings.note(Defect::FieldTooLong, offset);
            self.text.push_str(&text[..text.floor_char_boundary(room)]);
        } else {
            self.text.push_str(text);
        }
    }

    /// Handles a tag inside the text. `level` counts from 1, for the children of the field.
    pub(super) fn start(&mut self, tag: &Inline<'_>, level: usize, at: usize, w: &mut Warnings) {
        match self.mode {
            TextMode::Value | TextMode::Base64 => return,
            TextMode::Markup { .. } => {}
            TextMode::Html
                if level == 1 && tag.is_div() && self.text.trim().is_empty() && !tag.empty =>
            {
                self.unwrapped = true;
                return;
            }
            TextMode::Text | TextMode::Html => self.become_markup(at, w),
        }
        let opens_shell = level == 1
            && self.shell == Shell::None
            && self.mode == (TextMode::Markup { shell: true })
            && tag.is_div()
            && self.text.trim().is_empty();
        if self.cut {
            return;
        }
        let room = self.bytes_max.saturating_sub(self.text.len());
        let mut written = String::new();
        tag.write_open(&mut written, room);
        self.push(&written, at, w);
        if opens_shell && !tag.empty {
            self.shell = Shell::Open(self.text.len());
        }
    }

    pub(super) fn end(&mut self, name: &str, level: usize, at: usize, w: &mut Warnings) {
        if level == 1 && std::mem::take(&mut self.unwrapped) {
            return;
        }
        if !matches!(self.mode, TextMode::Markup { .. }) || is_void(name) {
            return;
        }
        let to = self.text.len();
        self.push(&format!("</{}>", shown_name(name)), at, w);
        if let (1, Shell::Open(from)) = (level, self.shell) {
            self.shell = Shell::Closed { from, to, after: self.text.len() };
        }
    }

    /// Treats the text as inline markup from the first tag on. The text before it is escaped,
    /// unless it is markup already.
    fn become_markup(&mut self, at: usize, w: &mut Warnings) {
        self.mode = TextMode::Markup { shell: false };
        if !looks_like_html(&self.text) {
            let plain = std::mem::take(&mut self.text);
            // A text that was cut stays cut; a text that now exceeds the limit is cut.
            let was_cut = std::mem::take(&mut self.cut);
            self.push_text(&plain, at, w);
            self.cut |= was_cut;
        }
    }

    /// Returns the field's value: trimmed, decoded, with absolute links. `None` if it is empty.
    pub(super) fn finish(
        self,
        base: Option<&Url>,
        room: &GrowthBudget,
        offset: usize,
        w: &mut Warnings,
    ) -> Option<String> {
        let text = match self.shell {
            Shell::Closed { from, to, after } if self.text[after..].trim().is_empty() => {
                &self.text[from..to]
            }
            _ => self.text.as_str(),
        };
        let text = text.trim();
        if text.is_empty() {
            return self.given;
        }
        match self.mode {
            TextMode::Value | TextMode::Text => Some(text.to_owned()),
            TextMode::Html | TextMode::Markup { .. } => {
                Some(resolve::markup(text.to_owned(), base, room))
            }
            TextMode::Base64 => match base64::decode(text) {
                Some(decoded) => Some(resolve::markup(decoded.trim().to_owned(), base, room)),
                None => {
                    w.note(Defect::BadBase64, offset);
                    Some(text.to_owned())
                }
            },
        }
    }
}

/// A start tag inside a text.
pub(super) struct Inline<'a> {
    pub(super) ns: Ns,
    pub(super) name: &'a str,
    pub(super) local: &'a str,
    pub(super) attrs: Attributes<'a>,
    pub(super) empty: bool,
    pub(super) base: Option<&'a Url>,
    pub(super) room: &'a GrowthBudget,
}

impl Inline<'_> {
    fn is_div(&self) -> bool {
        self.local.eq_ignore_ascii_case("div")
    }

    /// Writes the tag. It may stop as soon as the result exceeds `room`.
    fn write_open(&self, out: &mut String, room: usize) {
        out.push('<');
        out.push_str(shown_name(self.name));
        for (name, raw) in self.attrs.iter() {
            if self.is_about_xml(name) {
                continue;
            }
            if out.len() > room {
                return;
            }
            let value = value(raw);
            let value = match self.base {
                Some(base) if resolve::holds_address(name) && !value.starts_with('#') => {
                    Cow::Owned(resolve::link(&value, Some(base), self.room))
                }
                _ => value,
            };
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            escape_attribute(&value, out);
            out.push('"');
        }
        if is_void(self.local) {
            out.push_str(" />");
        } else {
            out.push('>');
        }
    }

    /// Whether an attribute is a declaration of XML, which has no meaning once the text is
    /// separate.
    fn is_about_xml(&self, name: &str) -> bool {
        name == "xml:base"
            || name.starts_with("xmlns:")
            || (name == "xmlns" && self.ns != Ns::Other)
    }
}

/// Returns the name without its prefix. HTML knows `svg`, not `svg:svg`.
fn shown_name(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Whether an element of HTML has no end tag.
pub(super) fn is_void(name: &str) -> bool {
    let local = name.rsplit(':').next().unwrap_or(name);
    [
        "br", "img", "hr", "input", "meta", "area", "base", "col", "embed", "link", "param",
        "source", "track", "wbr",
    ]
    .iter()
    .any(|void| local.eq_ignore_ascii_case(void))
}

/// Returns text without the control characters that XML forbids. Those from 128 to 159 are meant as
/// windows-1252 and become its characters.
fn clean<'a>(text: &'a str, offset: usize, warnings: &mut Warnings) -> Cow<'a, str> {
    let suspicious = |b: u8| (b < 0x20 && b != b'\n' && b != b'\t') || b == 0xc2 || b == 0xef;
    if !text.bytes().any(suspicious) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            '\n' | '\t' => out.push(c),
            '\u{80}'..='\u{9f}' => out.push(windows_1252(c as u8)),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                warnings.note(Defect::BadCharacter, offset);
            }
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}
