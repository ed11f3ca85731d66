//! Draws a profile as bars: entries per hour of the day, or per weekday.

use std::fmt::Write;

use super::{STYLE, escaped};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 170.0;
const FLOOR: f64 = 140.0;
const LEFT: f64 = 10.0;

/// Draws bars with labels. The tallest bar fills the height.
pub fn bars(values: &[(String, f64)]) -> String {
    let most = values.iter().map(|v| v.1).fold(f64::MIN_POSITIVE, f64::max);
    let step = (WIDTH - 2.0 * LEFT) / values.len().max(1) as f64;
    let mut svg = format!(
        "<svg class=\"fig\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         role=\"img\">{STYLE}"
    );
    for (i, (name, value)) in values.iter().enumerate() {
        let x = LEFT + i as f64 * step;
        let height = value / most * (FLOOR - 10.0);
        let _ = write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" \
             fill=\"var(--s0)\">\
             <title>{}: {value:.3}</title></rect>\
             <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x + 2.0,
            FLOOR - height,
            step - 4.0,
            escaped(name),
            x + step / 2.0,
            FLOOR + 18.0,
            escaped(name),
        );
    }
    svg.push_str("</svg>");
    svg
}
