//! Reports: one self-contained HTML page, its figures as SVG, and their numbers as CSV.
//!
//! A page has text, tables and drawings, in light and dark colours. It loads nothing and runs no
//! scripts. Output: texts, which the caller writes to files.

mod axis;
mod bars;
mod day;
mod lanes;
mod page;
mod plot;
mod runs;
mod shown;

pub use axis::{Axis, Unit};
pub use bars::bars;
pub use day::{DayLine, day};
pub use lanes::lanes;
pub use page::{ReportFigure, ReportPage, ReportSection, ReportTable};
pub use plot::{Plot, PointRange, Series, SeriesStyle};
pub use runs::{BestValue, ComparisonInput, comparison_sections, costs, modes};
pub use shown::{bytes, count, share, spoken};

/// Escapes text for HTML and SVG.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML forbids most control characters, and a separate drawing is XML.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// The style of every drawing, included so that each works alone. The eight colours are distinct
/// for colour-blind readers (after Okabe and Ito), and lighter on a dark background.
pub(crate) const STYLE: &str = "<style>\
svg.fig{--ink:#1f2328;--soft:#6b7280;--line:#d8dee4;--ground:#fff;\
--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#cc79a7;--s4:#b8860b;--s5:#56b4e9;\
--s6:#7f4fc9;--s7:#555;\
font:12px system-ui,sans-serif;background:var(--ground)}\
@media(prefers-color-scheme:dark){svg.fig{--ink:#e6edf3;--soft:#9aa4af;\
--line:#30363d;--ground:#0d1117;\
--s0:#4aa8e0;--s1:#f08a4b;--s2:#3cc99b;--s3:#e3a3c8;--s4:#e0b040;--s5:#8fd0f5;\
--s6:#b08cf0;--s7:#aaa}}\
svg.fig text{fill:var(--ink)}svg.fig .soft{fill:var(--soft)}\
svg.fig .grid{stroke:var(--line);stroke-width:1}svg.fig .axis{stroke:var(--soft);stroke-width:1}\
</style>";

/// The hues of names in all figures of a page, in order of first use.
#[derive(Clone, Debug, Default)]
pub struct Palette(Vec<String>);

impl Palette {
    pub fn hue(&mut self, name: &str) -> usize {
        if let Some(known) = self.0.iter().position(|other| other == name) {
            return known;
        }
        self.0.push(name.to_owned());
        self.0.len() - 1
    }
}

/// Returns the colour of a hue. Colours repeat after eight, with another dash and shape.
pub(crate) fn colour(hue: usize) -> String {
    format!("var(--s{})", hue % 8)
}

pub(crate) const fn dash(hue: usize) -> &'static str {
    match hue / 8 % 3 {
        0 => "",
        1 => " stroke-dasharray=\"6 3\"",
        _ => " stroke-dasharray=\"2 3\"",
    }
}
