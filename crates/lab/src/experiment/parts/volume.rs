//! Draws how much a population publishes: by week, by two hours, and how rates are distributed over
//! feeds (source 002, figures 3 and 7). It makes no polls.

use std::time::Duration;

use feed::Time;

use super::ExperimentReport;
use crate::World;
use crate::report::{Axis, Plot, Series, SeriesStyle, Unit};

const DAY: Duration = Duration::from_secs(86_400);
const WEEK: Duration = Duration::from_secs(7 * 86_400);
const TWO_HOURS: Duration = Duration::from_secs(2 * 3600);
/// The time over which the source counts the entries of a feed: three months.
const COUNTED_DAYS: u32 = 91;
/// The days whose two-hour steps are drawn.
const DRAWN_DAYS: u32 = 14;

pub(super) fn volume(report: &mut ExperimentReport<'_>, start: Time) {
    report.heading("How much is published");
    weeks(report, start);
    two_hours(report, start);
    rates(report, start);
}

/// Returns the entries of all feeds in `n` steps from `start` on.
fn counts(world: &World, start: Time, step: Duration, n: u32) -> Vec<f64> {
    let at = |i: u32| start + step * i;
    let of_step = |i: u32| -> usize {
        world.feeds.iter().map(|feed| feed.between(at(i), at(i + 1)).len()).sum()
    };
    (0..n).map(|i| of_step(i) as f64).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Figure 3a: the entries of each week.
fn weeks(report: &mut ExperimentReport<'_>, start: Time) {
    let counts = counts(report.world, start, WEEK, COUNTED_DAYS / 7);
    let most = counts.iter().copied().fold(0.0, f64::max);
    let least = counts.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = mean(&counts);
    report.values.add("volume/weeks", "max_over_mean", (mean > 0.0).then(|| most / mean));
    report.values.add("volume/weeks", "min_over_mean", (mean > 0.0).then(|| least / mean));
    let points = (1..).zip(&counts).map(|(week, n)| (f64::from(week), *n, String::new()));
    line(report, "volume-weeks", "Entries of all feeds in each week.", "week", points.collect());
}

/// Figure 3b: the entries of every two hours.
fn two_hours(report: &mut ExperimentReport<'_>, start: Time) {
    let a_day = 12;
    let counts = counts(report.world, start, TWO_HOURS, DRAWN_DAYS * a_day);
    // The swing of the mean day.
    let of_day = |slot: usize| -> f64 { counts.iter().skip(slot).step_by(a_day as usize).sum() };
    let day: Vec<f64> = (0..a_day as usize).map(of_day).collect();
    let most = day.iter().copied().fold(0.0, f64::max);
    let least = day.iter().copied().fold(f64::INFINITY, f64::min);
    report.values.add("volume/two-hours", "max_over_min", (least > 0.0).then(|| most / least));
    let points =
        (0..).zip(&counts).map(|(step, n)| (f64::from(step) / f64::from(a_day), *n, String::new()));
    let caption = "Entries of all feeds in every two hours.";
    line(report, "volume-two-hours", caption, "day", points.collect());
}

fn line(
    report: &mut ExperimentReport<'_>,
    name: &str,
    caption: &str,
    x: &str,
    points: Vec<(f64, f64, String)>,
) {
    let series = vec![Series::new("entries", 0, points, SeriesStyle::Line)];
    let x = Axis::new(x, Unit::Plain, false);
    let y = Axis::new("entries", Unit::Plain, false);
    report.plot(name, caption, &Plot { x, y, series, ..Plot::default() });
}

/// Figure 7: how many feeds published how many entries in three months, with the fitted power law.
/// Numbers of entries are grouped by powers of two, so that every group has feeds.
fn rates(report: &mut ExperimentReport<'_>, start: Time) {
    let end = start + DAY * COUNTED_DAYS;
    let counts: Vec<usize> = report
        .world
        .feeds
        .iter()
        .map(|feed| feed.between(start, end).len())
        .filter(|n| *n > 0)
        .collect();
    let daily = counts.iter().filter(|n| **n >= COUNTED_DAYS as usize).count();
    let share = (!counts.is_empty()).then(|| daily as f64 / counts.len() as f64);
    report.values.add("volume/rates", "one_a_day", share);
    let mut groups = [0_u32; usize::BITS as usize];
    counts.iter().for_each(|n| groups[n.ilog2() as usize] += 1);
    // The feeds per number of entries: a group from 2^i on holds 2^i numbers.
    let density = |(i, n): (usize, &u32)| {
        let numbers = 2_f64.powi(i as i32);
        (*n > 0).then(|| (1.5 * numbers, f64::from(*n) / numbers))
    };
    let points: Vec<(f64, f64)> = groups.iter().enumerate().filter_map(density).collect();
    let fit = power_law(&points);
    report.values.add("volume/rates", "exponent", fit.map(|(_, exponent)| exponent));
    let dots = points.iter().map(|(x, y)| (*x, *y, String::new())).collect();
    let mut series = vec![Series::new("feeds", 1, dots, SeriesStyle::Scattered)];
    if let (Some((factor, exponent)), [first, .., last]) = (fit, points.as_slice()) {
        let at = |x: f64| (x, factor * x.powf(exponent), String::new());
        let name = format!("y = {factor:.0}·x^{exponent:.2}");
        series.push(Series::new(&name, 0, vec![at(first.0), at(last.0)], SeriesStyle::Line));
    }
    let plot = Plot {
        x: Axis::new("entries in three months", Unit::Plain, true),
        y: Axis::new("feeds with this number of entries", Unit::Plain, true),
        series,
        ..Plot::default()
    };
    report.plot("volume-rates", "How the rates of feeds are distributed.", &plot);
}

/// Fits y = factor · x^exponent by least squares of the logarithms.
fn power_law(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean_x = mean(&logs.iter().map(|point| point.0).collect::<Vec<_>>());
    let mean_y = mean(&logs.iter().map(|point| point.1).collect::<Vec<_>>());
    let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let common: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (spread > 0.0).then(|| {
        let exponent = common / spread;
        ((mean_y - exponent * mean_x).exp(), exponent)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_found_again() {
        let points: Vec<(f64, f64)> =
            (0..8).map(|i| 2_f64.powi(i)).map(|x| (x, 376.0 * x.powf(-0.78))).collect();
        let (factor, exponent) = power_law(&points).expect("a line");
        assert!((factor - 376.0).abs() < 1e-6 && (exponent + 0.78).abs() < 1e-9);
        assert_eq!(power_law(&points[..1]), None);
    }
}
