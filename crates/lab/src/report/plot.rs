//! Lines and points over two axes.

use std::fmt::Write;

use super::axis::{Scale, name};
use super::{Axis, STYLE, colour, dash, escaped};

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 220.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 52.0;
/// Legends of more series than this would leave the drawing.
const LEGEND_MAX: usize = 22;

/// A drawing of series over two axes.
#[derive(Clone, Debug)]
pub struct Plot {
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// A point to point out: where it lies, and what is written beside it.
    pub mark: Option<(f64, f64, String)>,
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    /// Each with a name of its own, shown on touch; it may be empty.
    pub points: Vec<(f64, f64, String)>,
    pub drawn: Drawn,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Points are joined and not drawn themselves.
    Line,
    /// Points are joined and drawn.
    Dotted,
    /// Points are drawn and not joined.
    Scattered,
}

impl Plot {
    /// The drawing as SVG.
    pub fn svg(&self) -> String {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let x = Scale::over(&self.x, all().map(|p| p.0));
        let y = Scale::over(&self.y, all().map(|p| p.1));
        let mut svg = format!(
            "<svg class=\"fig\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \
             {WIDTH} {HEIGHT}\" \
             role=\"img\">{STYLE}"
        );
        self.frame(&mut svg, &x, &y);
        for (number, series) in self.series.iter().enumerate() {
            self.draw(&mut svg, number, series, (&x, &y));
        }
        self.draw_mark(&mut svg, &x, &y);
        svg.push_str("</svg>");
        svg
    }

    /// The numbers behind the drawing.
    pub fn csv(&self) -> String {
        let mut csv = format!("series,{},{},point\n", field(&self.x.label), field(&self.y.label));
        for series in &self.series {
            for (x, y, point) in &series.points {
                let _ = writeln!(csv, "{},{x},{y},{}", field(&series.name), field(point));
            }
        }
        csv
    }

    fn frame(&self, svg: &mut String, x: &Scale, y: &Scale) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (value, name) in x.ticks() {
            let Some(at) = x.place(value) else { continue };
            let at = LEFT + at * (right - LEFT);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\"/>\
                 <text class=\"soft\" x=\"{at:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{name}</text>",
                bottom + 18.0
            );
        }
        for (value, name) in y.ticks() {
            let Some(at) = y.place(value) else { continue };
            let at = bottom - at * (bottom - TOP);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/>\
                 <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
                LEFT - 8.0,
                at + 4.0
            );
        }
        let middle = f64::midpoint(TOP, bottom);
        let _ = write!(
            svg,
            "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{bottom}\"/>\
             <line class=\"axis\" x1=\"{LEFT}\" y1=\"{TOP}\" x2=\"{LEFT}\" y2=\"{bottom}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text x=\"16\" y=\"{middle:.1}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 16 {middle:.1})\">{}</text>",
            f64::midpoint(LEFT, right),
            HEIGHT - 12.0,
            escaped(&self.x.label),
            escaped(&self.y.label),
        );
    }

    /// A ring with words, above everything else.
    fn draw_mark(&self, svg: &mut String, x: &Scale, y: &Scale) {
        let Some(mark) = &self.mark else { return };
        let Some((px, py)) = place(x, y, mark) else { return };
        // Words begin right of the ring, or end left of it where they would leave the drawing.
        let (at, anchor) = if px < WIDTH / 2.0 { (px + 14.0, "start") } else { (px - 14.0, "end") };
        let _ = write!(
            svg,
            "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"9\" fill=\"none\" \
             stroke=\"var(--ink)\" stroke-width=\"2\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" \
             font-weight=\"700\">{}</text>",
            py - 8.0,
            escaped(&mark.2),
        );
    }

    fn draw(&self, svg: &mut String, number: usize, series: &Series, (x, y): (&Scale, &Scale)) {
        let right = WIDTH - RIGHT;
        let place = |point: &(f64, f64, String)| place(x, y, point);
        let (stroke, dashes) = (colour(number), dash(number));
        let placed: Vec<(f64, f64)> = series.points.iter().filter_map(place).collect();
        if placed.len() > 1 && series.drawn != Drawn::Scattered {
            let path: Vec<String> =
                placed.iter().map(|(px, py)| format!("{px:.1},{py:.1}")).collect();
            let _ = write!(
                svg,
                "<polyline fill=\"none\" stroke=\"{stroke}\" \
                 stroke-width=\"2\"{dashes} points=\"{}\"/>",
                path.join(" ")
            );
        }
        if series.drawn != Drawn::Line || placed.len() == 1 {
            for point in &series.points {
                let Some((px, py)) = place(point) else { continue };
                let (unit_x, unit_y) = (name(point.0, self.x.unit), name(point.1, self.y.unit));
                let _ = write!(
                    svg,
                    "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"4\" fill=\"{stroke}\">\
                     <title>{}: {unit_x}, {unit_y}</title></circle>",
                    escaped(if point.2.is_empty() { &series.name } else { &point.2 }),
                );
            }
        }
        if number < LEGEND_MAX {
            let at = TOP + 6.0 + number as f64 * 17.0;
            let (from, to) = (right + 14.0, right + 34.0);
            let _ = write!(
                svg,
                "<line x1=\"{from}\" y1=\"{at}\" x2=\"{to}\" y2=\"{at}\" stroke=\"{stroke}\" \
                 stroke-width=\"3\"{dashes}/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                to + 6.0,
                at + 4.0,
                escaped(&series.name),
            );
        }
    }
}

/// Where a point lies in the drawing.
fn place(x: &Scale, y: &Scale, point: &(f64, f64, String)) -> Option<(f64, f64)> {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let (px, py) = (x.place(point.0)?, y.place(point.1)?);
    Some((LEFT + px * (right - LEFT), bottom - py * (bottom - TOP)))
}

pub(super) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Unit;

    fn plot(drawn: Drawn, mark: Option<(f64, f64, String)>) -> String {
        let points = [(1.0, 1.0), (2.0, 4.0)].map(|(x, y)| (x, y, String::new())).to_vec();
        let axis = |name| Axis::new(name, Unit::Plain, false);
        let series = vec![Series { name: "one".to_owned(), points, drawn }];
        Plot { x: axis("x"), y: axis("y"), series, mark }.svg()
    }

    #[test]
    fn series_are_joined_dotted_or_scattered() {
        let parts = |svg: &str| (svg.matches("<polyline").count(), svg.matches("<circle").count());
        assert_eq!(parts(&plot(Drawn::Line, None)), (1, 0));
        assert_eq!(parts(&plot(Drawn::Dotted, None)), (1, 2));
        assert_eq!(parts(&plot(Drawn::Scattered, None)), (0, 2));
    }

    #[test]
    fn a_mark_rings_its_point_and_says_what_it_is() {
        let svg = plot(Drawn::Dotted, Some((2.0, 4.0, "tide, <in use>".to_owned())));
        let centre = |circle: &str| circle.split(" r=").next().map(str::to_owned);
        let circles: Vec<_> = svg.split("<circle").skip(1).map(centre).collect();
        assert_eq!(circles.len(), 3);
        assert_eq!(circles[1], circles[2], "the ring lies around the second point");
        assert!(svg.contains("tide, &lt;in use&gt;"));
    }
}
