//! Reports that people want to look at: one self-contained HTML page, its figures as SVG, and the
//! figures' numbers as CSV.
//!
//! Nothing is fetched and nothing is run in the browser: text, tables and drawings, in light and
//! in dark. Here are only texts; who calls writes them to files.

mod axis;
mod bars;
mod day;
mod page;
mod plot;
mod runs;
mod shown;

pub use axis::{Axis, Unit};
pub use bars::bars;
pub use day::{DayLine, day};
pub use page::{ReportFigure, ReportPage, ReportSection, ReportTable};
pub use plot::{Drawn, Plot, Range, Series};
pub use runs::{Compared, compared, costs, modes};
pub use shown::{bytes, count, share, spoken};

/// Text as it may stand in HTML and SVG.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML forbids most of these, and a drawing is XML where it stands alone.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// The look of every drawing, also where it stands alone. Eight colours that colour-blind readers
/// can tell apart (after Okabe and Ito), lighter on dark ground.
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

/// Which hue a name has, in all figures of a page: the first name has the first.
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

/// The colour of a hue; colours repeat after eight, with another dash and another shape.
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
