//! Draws lines and points over two axes.

use std::fmt::Write;

use super::axis::{Scale, name};
use super::{Axis, STYLE, colour, dash, escaped};

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 220.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 52.0;
/// The legend has room for this many series.
const LEGEND_MAX: usize = 22;

/// A drawing of series over two axes.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Thin lines behind the series, between related points.
    pub joins: Vec<Vec<(f64, f64)>>,
    /// A marked point: its coordinates and its label.
    pub mark: Option<(f64, f64, String)>,
}

/// A series of points.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    /// Its colour, dash and shape. The same subject has the same hue in all figures.
    pub hue: usize,
    /// The points, each with a label that may be empty.
    pub points: Vec<(f64, f64, String)>,
    pub drawn: SeriesStyle,
    /// The uncertainty of each point; empty if unknown.
    pub ranges: Vec<PointRange>,
}

/// The range of a point on both axes: a band along a line, bars at a dot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointRange {
    pub x: (f64, f64),
    pub y: (f64, f64),
}

impl PointRange {
    /// Returns the range of a point with an exact x value.
    pub fn of_y(x: f64, y: (f64, f64)) -> PointRange {
        PointRange { x: (x, x), y }
    }

    /// Returns the mean of values, and one standard deviation around it; `None` without values.
    pub(crate) fn around(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, (f64, f64))> {
        let mean = crate::measure::mean(values.clone())?;
        let sd = crate::measure::mean(values.map(|v| (v - mean) * (v - mean)))?.sqrt();
        Some((mean, (mean - sd, mean + sd)))
    }
}

impl Series {
    pub fn new(
        name: &str,
        hue: usize,
        points: Vec<(f64, f64, String)>,
        drawn: SeriesStyle,
    ) -> Series {
        Series { name: name.to_owned(), hue, points, drawn, ranges: Vec::new() }
    }

    /// Adds a range to each point.
    #[must_use]
    pub fn within(self, ranges: Vec<PointRange>) -> Series {
        Series { ranges, ..self }
    }
}

/// The style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesStyle {
    /// Lines without points.
    Line,
    /// Lines with points.
    Dotted,
    /// Points without lines.
    Scattered,
}

impl Plot {
    /// Returns the drawing as SVG.
    pub fn svg(&self) -> String {
        let all = || self.series.iter().flat_map(|s| &s.points);
        let ranges = || self.series.iter().flat_map(|s| &s.ranges);
        let wide = ranges().flat_map(|r| [r.x.0, r.x.1]);
        let high = ranges().flat_map(|r| [r.y.0, r.y.1]);
        let x = Scale::over(&self.x, all().map(|p| p.0).chain(wide));
        let y = Scale::over(&self.y, all().map(|p| p.1).chain(high));
        let mut svg = format!(
            "<svg class=\"fig\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \
             {WIDTH} {HEIGHT}\" \
             role=\"img\">{STYLE}"
        );
        self.frame(&mut svg, &x, &y);
        for points in &self.joins {
            let _ = write!(
                svg,
                "<polyline fill=\"none\" stroke=\"var(--soft)\" stroke-width=\"1\" \
                 stroke-opacity=\".6\" points=\"{}\"/>",
                path(&x, &y, points.iter().copied())
            );
        }
        for series in &self.series {
            series.draw_ranges(&mut svg, &x, &y);
        }
        for (number, series) in self.series.iter().enumerate() {
            self.draw(&mut svg, number, series, (&x, &y));
        }
        self.draw_mark(&mut svg, &x, &y);
        svg.push_str("</svg>");
        svg
    }

    /// Returns the numbers of the drawing as CSV; times in seconds.
    pub fn csv(&self) -> String {
        let (x, y) = (self.x.column(), self.y.column());
        let has_ranges = self.series.iter().any(|s| !s.ranges.is_empty());
        let more =
            if has_ranges { format!(",{x}_low,{x}_high,{y}_low,{y}_high") } else { String::new() };
        let mut csv = format!("series,{x},{y},point{more}\n");
        for series in &self.series {
            for (i, (x, y, point)) in series.points.iter().enumerate() {
                let _ = write!(csv, "{},{x},{y},{}", field(&series.name), field(point));
                match series.ranges.get(i) {
                    Some(PointRange { x, y }) => {
                        let _ = writeln!(csv, ",{},{},{},{}", x.0, x.1, y.0, y.1);
                    }
                    None => csv.push_str(if has_ranges { ",,,,\n" } else { "\n" }),
                }
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

    /// Draws the marked point as a ring with a label, above everything else.
    fn draw_mark(&self, svg: &mut String, x: &Scale, y: &Scale) {
        let Some(mark) = &self.mark else { return };
        let Some((px, py)) = place(x, y, mark.0, mark.1) else { return };
        // The label begins right of the ring, or ends left of it if there is no room.
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
        let (stroke, dashes) = (colour(series.hue), dash(series.hue));
        let n_placed = series.points.iter().filter(|p| place(x, y, p.0, p.1).is_some()).count();
        if n_placed > 1 && series.drawn != SeriesStyle::Scattered {
            let _ = write!(
                svg,
                "<polyline fill=\"none\" stroke=\"{stroke}\" \
                 stroke-width=\"2\"{dashes} points=\"{}\"/>",
                path(x, y, series.points.iter().map(|p| (p.0, p.1)))
            );
        }
        let has_dots = series.drawn != SeriesStyle::Line || n_placed == 1;
        if has_dots {
            for point in &series.points {
                let Some(at) = place(x, y, point.0, point.1) else { continue };
                let (unit_x, unit_y) = (name(point.0, self.x.unit), name(point.1, self.y.unit));
                let named = if point.2.is_empty() { &series.name } else { &point.2 };
                let title = format!("{}: {unit_x}, {unit_y}", escaped(named));
                svg.push_str(&dot(series.hue, at, &format!("<title>{title}</title>")));
            }
        }
        if number < LEGEND_MAX {
            let at = TOP + 6.0 + number as f64 * 17.0;
            let (from, to) = (right + 14.0, right + 34.0);
            if series.drawn != SeriesStyle::Scattered {
                let _ = write!(
                    svg,
                    "<line x1=\"{from}\" y1=\"{at}\" x2=\"{to}\" y2=\"{at}\" \
                     stroke=\"{stroke}\" stroke-width=\"3\"{dashes}/>"
                );
            }
            if has_dots {
                svg.push_str(&dot(series.hue, (f64::midpoint(from, to), at), ""));
            }
            let name = escaped(&series.name);
            let _ = write!(svg, "<text x=\"{:.1}\" y=\"{:.1}\">{name}</text>", to + 6.0, at + 4.0);
        }
    }
}

impl Series {
    /// Draws a band along a line, or bars at dots.
    fn draw_ranges(&self, svg: &mut String, x: &Scale, y: &Scale) {
        let stroke = colour(self.hue);
        if self.drawn == SeriesStyle::Line && self.ranges.len() > 1 {
            let low = self.ranges.iter().map(|r| (r.x.0, r.y.0));
            let high = self.ranges.iter().rev().map(|r| (r.x.0, r.y.1));
            let _ = write!(
                svg,
                "<polygon fill=\"{stroke}\" fill-opacity=\".15\" points=\"{}\"/>",
                path(x, y, low.chain(high))
            );
            return;
        }
        for (range, point) in self.ranges.iter().zip(&self.points) {
            let across = [(range.x.0, point.1), (range.x.1, point.1)];
            let along = [(point.0, range.y.0), (point.0, range.y.1)];
            for line in [across, along] {
                let _ = write!(
                    svg,
                    "<polyline fill=\"none\" stroke=\"{stroke}\" stroke-opacity=\".5\" \
                     points=\"{}\"/>",
                    path(x, y, line.into_iter())
                );
            }
        }
    }
}

/// Draws a point. Hues with the same colour have different shapes.
fn dot(hue: usize, (x, y): (f64, f64), inside: &str) -> String {
    let fill = colour(hue);
    match hue / 8 % 3 {
        0 => {
            format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{fill}\">{inside}</circle>")
        }
        1 => format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\" \
             fill=\"{fill}\">{inside}</rect>",
            x - 4.0,
            y - 4.0
        ),
        _ => format!("<path d=\"M{x:.1} {:.1}l5 9h-10z\" fill=\"{fill}\">{inside}</path>", y - 5.0),
    }
}

/// Returns the points of a line, without those that have no position.
fn path(x: &Scale, y: &Scale, points: impl Iterator<Item = (f64, f64)>) -> String {
    let placed = points.filter_map(|(px, py)| place(x, y, px, py));
    placed.map(|(px, py)| format!("{px:.1},{py:.1}")).collect::<Vec<_>>().join(" ")
}

/// Returns the position of a point in the drawing.
fn place(x: &Scale, y: &Scale, at_x: f64, at_y: f64) -> Option<(f64, f64)> {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let (px, py) = (x.place(at_x)?, y.place(at_y)?);
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

    fn plot(drawn: SeriesStyle, mark: Option<(f64, f64, String)>) -> String {
        let points = [(1.0, 1.0), (2.0, 4.0)].map(|(x, y)| (x, y, String::new())).to_vec();
        let axis = |name| Axis::new(name, Unit::Plain, false);
        let series = vec![Series::new("one", 0, points, drawn)];
        Plot { x: axis("x"), y: axis("y"), series, mark, ..Plot::default() }.svg()
    }

    #[test]
    fn series_are_joined_dotted_or_scattered() {
        let parts = |svg: &str| (svg.matches("<polyline").count(), svg.matches("<title").count());
        assert_eq!(parts(&plot(SeriesStyle::Line, None)), (1, 0));
        assert_eq!(parts(&plot(SeriesStyle::Dotted, None)), (1, 2));
        assert_eq!(parts(&plot(SeriesStyle::Scattered, None)), (0, 2));
    }

    #[test]
    fn a_mark_rings_its_point_and_says_what_it_is() {
        let svg = plot(SeriesStyle::Dotted, Some((2.0, 4.0, "tide, <in use>".to_owned())));
        let centre = |circle: &str| circle.split(" r=").next().map(str::to_owned);
        let circles: Vec<_> = svg.split("<circle").skip(1).map(centre).collect();
        assert_eq!(circles.len(), 4, "two points, the legend's and the ring");
        assert_eq!(circles[1], circles[3], "the ring lies around the second point");
        assert!(svg.contains("tide, &lt;in use&gt;"));
    }

    #[test]
    fn ranges_are_a_band_along_a_line_and_bars_at_dots() {
        let points = vec![(1.0, 2.0, String::new()), (2.0, 4.0, String::new())];
        let ranges =
            vec![PointRange::of_y(1.0, (1.0, 3.0)), PointRange { x: (1.5, 2.5), y: (3.0, 5.0) }];
        let of = |drawn| {
            let series = Series::new("one", 9, points.clone(), drawn).within(ranges.clone());
            Plot {
                x: Axis::new("wait", Unit::Seconds, false),
                series: vec![series],
                ..Plot::default()
            }
        };
        let svg = of(SeriesStyle::Line).svg();
        assert_eq!((svg.matches("<polygon").count(), svg.matches("<polyline").count()), (1, 1));
        let svg = of(SeriesStyle::Scattered).svg();
        assert_eq!((svg.matches("<polygon").count(), svg.matches("<polyline").count()), (0, 4));
        let csv = of(SeriesStyle::Line).csv();
        let head = "series,wait_seconds,,point,wait_seconds_low,wait_seconds_high,_low,_high";
        assert_eq!(
            csv.lines().collect::<Vec<_>>(),
            [head, "one,1,2,,1,1,1,3", "one,2,4,,1.5,2.5,3,5"]
        );
    }
}
