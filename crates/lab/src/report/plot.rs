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
}

/// Points that belong together, joined by a line if there are several.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    /// Each with a name of its own, shown on touch; it may be empty.
    pub points: Vec<(f64, f64, String)>,
    /// Whether the points themselves are drawn.
    pub dots: bool,
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

    fn draw(&self, svg: &mut String, number: usize, series: &Series, (x, y): (&Scale, &Scale)) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let place = |(px, py, _): &(f64, f64, String)| {
            let (px, py) = (x.place(*px)?, y.place(*py)?);
            Some((LEFT + px * (right - LEFT), bottom - py * (bottom - TOP)))
        };
        let (stroke, dashes) = (colour(number), dash(number));
        let placed: Vec<(f64, f64)> = series.points.iter().filter_map(place).collect();
        if placed.len() > 1 {
            let path: Vec<String> =
                placed.iter().map(|(px, py)| format!("{px:.1},{py:.1}")).collect();
            let _ = write!(
                svg,
                "<polyline fill=\"none\" stroke=\"{stroke}\" \
                 stroke-width=\"2\"{dashes} points=\"{}\"/>",
                path.join(" ")
            );
        }
        if series.dots || placed.len() == 1 {
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

pub(super) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}
