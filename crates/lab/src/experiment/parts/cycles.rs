//! The part about the 2steps paper: its table, completeness over cost, and the threshold.

use super::ExperimentReport;
use crate::cycles as two_steps;
use crate::experiment::definition::{CyclesPart, Divergence};
use crate::report::{
    Axis, Plot, PointRange, ReportSection, ReportTable, Series, SeriesStyle, Unit,
};

pub(in crate::experiment) fn cycles(report: &mut ExperimentReport<'_>, given: &CyclesPart) {
    let cells = two_steps::table(given.seeds, report.threads);
    let mut rows = Vec::new();
    for cell in &cells {
        let subject = format!("{}@{}", cell.strategy, cell.budget);
        let figures = [
            ("completeness", cell.completeness),
            ("window_freshness", cell.window_freshness),
            ("cost", cell.cost),
        ];
        let mut row = vec![cell.budget.to_string(), cell.strategy.to_string()];
        for (measure, figure) in figures {
            report.values.add(&subject, measure, Some(figure.mean));
            report.values.add(&subject, &format!("{measure}.distance"), figure.distance());
            let digits = if measure == "cost" { 0 } else { 4 };
            row.push(format!("{:.digits$} ± {:.digits$}", figure.mean, figure.sd));
            row.push(format!("{:.digits$}", figure.published));
        }
        rows.push(row);
    }
    let header = [
        "Budget",
        "Strategy",
        "Completeness",
        "published",
        "Window freshness",
        "published",
        "Cost",
        "published",
    ];
    report.heading("Table 2: ours over many seeds and the published single run");
    let header = header.map(str::to_owned).to_vec();
    report.sections.push(ReportSection::Table(ReportTable::plain(header, rows)));
    unread(report, given);
    over_cost(report, given);
    thresholds(report, given);
}

/// Figure 1: a window has a limited size, and entries that leave it unread are lost.
fn unread(report: &mut ExperimentReport<'_>, given: &CyclesPart) {
    let Some(Divergence { rate, selectivity, cycles }) = given.divergence else { return };
    let sources: Vec<Vec<(u64, u64)>> = (0..given.seeds)
        .map(|seed| two_steps::left_unread(rate, selectivity, cycles, seed))
        .collect();
    let Some(one) = sources.first() else { return };
    let spread = |cycle: usize| PointRange::around(sources.iter().map(|s| s[cycle].1 as f64));
    let mean = |cycle: usize| spread(cycle).map_or(0.0, |(mean, _)| mean);
    let curve = |name: &str, hue: usize, of: &dyn Fn(usize) -> f64| {
        let points = (0..one.len()).map(|i| ((i + 1) as f64, of(i), String::new())).collect();
        Series::new(name, hue, points, SeriesStyle::Line)
    };
    let band =
        |i: usize| PointRange::of_y((i + 1) as f64, spread(i).map_or((0.0, 0.0), |(_, r)| r));
    let series = vec![
        curve("published", 0, &|i| one[i].0 as f64),
        curve("still shown", 1, &|i| one[i].1 as f64),
        curve("still shown, mean", 2, &mean).within((0..one.len()).map(band).collect()),
    ];
    let falls = one.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    if let (Some(last), Some((published, _))) = (one.len().checked_sub(1), one.last()) {
        report.values.add("unread", "published", Some(*published as f64));
        report.values.add("unread", "shown.mean", Some(mean(last)));
        report.values.add("unread", "shown.falls", Some(falls as f64));
    }
    let plot = Plot {
        x: Axis::new("cycles since the last read", Unit::Plain, false),
        y: Axis::new("relevant entries", Unit::Plain, false),
        series,
        ..Plot::default()
    };
    let caption = "A source that is left unread (figure 1). The band is the mean and one standard \
                   deviation over all seeds.";
    report.plot("window-divergence", caption, &plot);
}

/// Figure 2a.
fn over_cost(report: &mut ExperimentReport<'_>, given: &CyclesPart) {
    if given.budgets.is_empty() {
        return;
    }
    let worlds: Vec<two_steps::CycleWorld> =
        (0..given.seeds.min(40)).map(two_steps::CycleWorld::draw).collect();
    let series = two_steps::STRATEGIES.map(|strategy| {
        let point = |budget: &usize| {
            let each = worlds.iter().filter_map(|w| w.run(strategy, *budget, two_steps::TAU_START));
            let each: Vec<_> = each.map(|o| (f64::from(o.cost), o.completeness)).collect();
            let (cost, x) = PointRange::around(each.iter().map(|o| o.0))?;
            let (completeness, y) = PointRange::around(each.iter().map(|o| o.1))?;
            Some(((cost, completeness, format!("{strategy}, b = {budget}")), PointRange { x, y }))
        };
        let (points, ranges) = given.budgets.iter().filter_map(point).unzip();
        let (name, hue) = (strategy.to_string(), report.palette.hue(&strategy.to_string()));
        Series::new(&name, hue, points, SeriesStyle::Dotted).within(ranges)
    });
    let plot = Plot {
        x: Axis::new("reads in 100 cycles", Unit::Plain, false),
        y: Axis::new("feed completeness", Unit::Plain, false),
        series: series.to_vec(),
        ..Plot::default()
    };
    let caption = "Completeness over cost (figure 2a). Bars are one standard deviation over the \
                   seeds, 40 at most.";
    report.plot("completeness-over-cost", caption, &plot);
}

/// Figure 2b.
fn thresholds(report: &mut ExperimentReport<'_>, given: &CyclesPart) {
    if given.tau_starts.is_empty() {
        return;
    }
    let world = two_steps::CycleWorld::draw(0);
    let curve = |(hue, start): (usize, &f64)| {
        let outcome = world.run(polling::budget::Strategy::TwoSteps, 30, *start)?;
        let points =
            (1..).zip(outcome.taus).map(|(i, tau): (u32, f64)| (i.into(), tau, String::new()));
        Some(Series::new(&format!("from {start}"), hue, points.collect(), SeriesStyle::Line))
    };
    let series: Vec<Series> = given.tau_starts.iter().enumerate().filter_map(curve).collect();
    let last = |series: &Series| series.points.last().map(|p| p.1);
    for (start, series) in given.tau_starts.iter().zip(&series) {
        report.values.add(&format!("tau@{start}"), "end", last(series));
    }
    let plot = Plot {
        x: Axis::new("cycle", Unit::Plain, false),
        y: Axis::new("τ", Unit::Plain, true),
        series,
        ..Plot::default()
    };
    report.plot("threshold", "The threshold finds its place from any start (figure 2b).", &plot);
}
