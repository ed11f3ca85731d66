//! Draws lanes of marks over one span of time, for example the entries of several feeds.

use std::fmt::Write;

use super::{STYLE, colour, escaped};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 12.0;
const ROW: f64 = 30.0;
const TOP: f64 = 8.0;
/// Marks that are closer than this look like one.
const NEAR: f64 = 0.5;

/// Draws one lane for each name, with marks between the ends of the axis. `ticks` are places on the
/// axis with their names.
pub fn lanes(ends: (f64, f64), ticks: &[(f64, String)], lanes: &[(String, Vec<f64>)]) -> String {
    let height = TOP + ROW * lanes.len() as f64 + 30.0;
    let floor = height - 26.0;
    let place = |at: f64| LEFT + (at - ends.0) / (ends.1 - ends.0) * (WIDTH - LEFT - RIGHT);
    let mut svg = format!(
        "<svg class=\"fig\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\">{STYLE}"
    );
    for (at, name) in ticks {
        let x = place(*at);
        let anchor = if *at >= ends.1 { "end" } else { "middle" };
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{floor:.1}\"/>\
             <text class=\"soft\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            floor + 17.0,
            escaped(name),
        );
    }
    for (row, (name, marks)) in lanes.iter().enumerate() {
        let y = TOP + ROW * (row as f64 + 0.5);
        let _ = write!(
            svg,
            "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            escaped(name),
        );
        let mut places: Vec<f64> = marks
            .iter()
            .filter(|at| (ends.0..=ends.1).contains(*at))
            .map(|at| place(*at))
            .collect();
        places.sort_by(f64::total_cmp);
        places.dedup_by(|next, before| *next - *before < NEAR);
        for x in places {
            let _ = write!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"{}\"/>",
                y - 9.0,
                y + 9.0,
                colour(row),
            );
        }
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_outside_the_span_are_left_out_and_near_ones_are_drawn_once() {
        let marks = vec![-90.0, -10.0, -10.0, -10.001, 0.0, 5.0];
        let ticks = [(-84.0, "12 weeks".to_owned()), (0.0, "last poll".to_owned())];
        let svg = lanes((-84.0, 0.0), &ticks, &[("a < b".to_owned(), marks)]);
        assert_eq!(svg.matches("stroke=\"var(--s0)\"").count(), 2);
        assert!(svg.contains("a &lt; b") && svg.contains("last poll") && svg.ends_with("</svg>"));
    }
}
