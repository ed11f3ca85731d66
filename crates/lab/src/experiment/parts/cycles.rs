//! The world of the 2steps paper: its table, completeness over cost, the threshold.

use super::Part;
use crate::cycles as two_steps;
use crate::experiment::definition::CyclesPart;
use crate::report::{Axis, Plot, Section, Series, Table, Unit};

pub(in crate::experiment) fn cycles(part: &mut Part<'_>, given: &CyclesPart) {
    let cells = two_steps::table(given.seeds, part.threads);
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
            part.values.add(&subject, measure, Some(figure.mean));
            part.values.add(&subject, &format!("{measure}.distance"), figure.distance());
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
    part.heading("Table 2: ours over many seeds beside the published single run");
    let header = header.map(str::to_owned).to_vec();
    part.sections.push(Section::Table(Table { header, rows, marked: Vec::new() }));
    over_cost(part, given);
    thresholds(part, given);
}

/// Figure 2a.
fn over_cost(part: &mut Part<'_>, given: &CyclesPart) {
    if given.budgets.is_empty() {
        return;
    }
    let worlds: Vec<two_steps::Cycles> =
        (0..given.seeds.min(40)).map(two_steps::Cycles::draw).collect();
    let series = two_steps::STRATEGIES.map(|strategy| {
        let point = |budget: &usize| {
            let each = worlds.iter().filter_map(|w| w.run(strategy, *budget, two_steps::TAU_START));
            let (mut n, mut cost, mut completeness) = (0.0, 0.0, 0.0);
            for outcome in each {
                (n, cost) = (n + 1.0, cost + f64::from(outcome.cost));
                completeness += outcome.completeness;
            }
            (
                cost / f64::max(n, 1.0),
                completeness / f64::max(n, 1.0),
                format!("{strategy}, b = {budget}"),
            )
        };
        let points = given.budgets.iter().map(point).collect();
        Series { name: strategy.to_string(), points, dots: true }
    });
    let plot = Plot {
        x: Axis::new("reads in 100 cycles", Unit::Plain, false),
        y: Axis::new("feed completeness", Unit::Plain, false),
        series: series.to_vec(),
    };
    part.plot("completeness-over-cost", "Completeness over cost (figure 2a).", &plot);
}

/// Figure 2b.
fn thresholds(part: &mut Part<'_>, given: &CyclesPart) {
    if given.tau_starts.is_empty() {
        return;
    }
    let world = two_steps::Cycles::draw(0);
    let curve = |start: &f64| {
        let outcome = world.run(polling::budget::Strategy::TwoSteps, 30, *start)?;
        let points =
            (1..).zip(outcome.taus).map(|(i, tau): (u32, f64)| (i.into(), tau, String::new()));
        Some(Series { name: format!("from {start}"), points: points.collect(), dots: false })
    };
    let series: Vec<Series> = given.tau_starts.iter().filter_map(curve).collect();
    let last = |series: &Series| series.points.last().map(|p| p.1);
    for (start, series) in given.tau_starts.iter().zip(&series) {
        part.values.add(&format!("tau@{start}"), "end", last(series));
    }
    let plot = Plot {
        x: Axis::new("cycle", Unit::Plain, false),
        y: Axis::new("τ", Unit::Plain, true),
        series,
    };
    part.plot("threshold", "The threshold finds its place from any start (figure 2b).", &plot);
}
