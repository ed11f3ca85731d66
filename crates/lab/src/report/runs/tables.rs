//! The tables of a comparison: both modes, cost and delays, with the best of each column marked. A
//! report and a terminal show the same table; CSV has plain numbers.

use std::fmt::Write;

use crate::measure::quality::Quality;
use crate::report::plot::field;
use crate::report::{ReportTable, bytes, count, share, spoken};
use crate::{Averages, PolicyComparison, PolicyRun};

/// One column of a table: its figures, which of them is best, and their format.
struct ComparisonColumn {
    name: &'static str,
    /// Its name in CSV.
    key: &'static str,
    values: Vec<Option<f64>>,
    best: BestValue,
    show: fn(f64) -> String,
}

/// The kind of value that is best in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BestValue {
    Small,
    Large,
    /// No value is better than another.
    Neither,
}

impl BestValue {
    /// Returns the best of the defined values.
    pub fn of(self, values: &[Option<f64>]) -> Option<f64> {
        let defined = values.iter().copied().flatten();
        match self {
            Small => defined.reduce(f64::min),
            Large => defined.reduce(f64::max),
            Neither => None,
        }
    }
}
use BestValue::{Large, Neither, Small};

/// Returns delay, cost, recall and quality of each run in one mode.
pub fn modes(
    runs: &[PolicyRun],
    qualities: &[Quality],
    mode: fn(&PolicyRun) -> Averages,
) -> ReportTable {
    let of = |value: fn(&Averages) -> Option<f64>| runs.iter().map(|r| value(&mode(r))).collect();
    let quality = qualities.iter().map(|q| q.quality).collect();
    let columns = [
        column("Delay", "delay_seconds", Small, of(|a| a.delay), spoken),
        column("Polls per entry", "polls_per_entry", Small, of(|a| a.polls_per_entry), share),
        column("Recall", "recall", Large, of(|a| a.recall), share),
        column("Quality", "quality", Large, quality, share),
    ];
    tabled(runs, &columns)
}

/// Returns the cost of each run, and the delays of its entries.
pub fn costs(comparison: &PolicyComparison) -> ReportTable {
    let of = |value: fn(&PolicyRun) -> Option<f64>| comparison.runs.iter().map(value).collect();
    let mut columns = vec![
        column("Polls", "polls", Neither, of(|r| Some(r.total.polls as f64)), count),
        column("Found", "found", Large, of(|r| Some(r.total.found as f64)), count),
        column("Missed", "missed", Small, of(|r| Some(r.total.missed as f64)), count),
        column("Open", "open", Small, of(|r| Some(r.total.open as f64)), count),
        column("Half within", "p50_seconds", Small, of(|r| Some(r.delays?.p50)), spoken),
        column("90 % within", "p90_seconds", Small, of(|r| Some(r.delays?.p90)), spoken),
        column("99 % within", "p99_seconds", Small, of(|r| Some(r.delays?.p99)), spoken),
        column("Longest", "max_seconds", Small, of(|r| Some(r.delays?.max)), spoken),
        column("Fresh", "freshness", Large, of(|r| r.freshness), share),
        column("Site/h max", "site_hour_max", Small, of(|r| Some(r.load.hour_max.into())), count),
    ];
    if comparison.runs.iter().any(|run| run.has_bytes) {
        let volume = of(|r| r.has_bytes.then_some(r.total.bytes as f64));
        columns.push(column("Volume", "bytes", Small, volume, bytes));
    }
    columns.push(column("Quality", "quality", Large, comparison.both.clone(), share));
    tabled(&comparison.runs, &columns)
}

fn column(
    name: &'static str,
    key: &'static str,
    best: BestValue,
    values: Vec<Option<f64>>,
    show: fn(f64) -> String,
) -> ComparisonColumn {
    ComparisonColumn { name, key, values, best, show }
}

fn tabled(runs: &[PolicyRun], columns: &[ComparisonColumn]) -> ReportTable {
    let mut header = vec!["Policy".to_owned()];
    header.extend(columns.iter().map(|column| column.name.to_owned()));
    let cell =
        |column: &ComparisonColumn, i: usize| column.values[i].map_or("–".to_owned(), column.show);
    let row = |(i, run): (usize, &PolicyRun)| {
        let cells = columns.iter().map(|column| cell(column, i));
        std::iter::once(run.policy.clone()).chain(cells).collect()
    };
    let mut marked = Vec::new();
    for (j, column) in columns.iter().enumerate() {
        let best = column.best.of(&column.values);
        let Some(best) = best.filter(|_| runs.len() > 1).map(column.show) else { continue };
        // Mark all cells that show the same text as the best one.
        let rows = (0..runs.len()).filter(|i| cell(column, *i) == best);
        marked.extend(rows.map(|i| (i, j + 1)));
    }
    let rows = runs.iter().enumerate().map(row).collect();
    ReportTable { header, rows, marked, data: data(runs, columns) }
}

/// Returns the figures as CSV, unrounded, in seconds and bytes; undefined ones are empty.
fn data(runs: &[PolicyRun], columns: &[ComparisonColumn]) -> String {
    let mut csv = "policy".to_owned();
    columns.iter().for_each(|column| csv.extend([",", column.key]));
    for (i, run) in runs.iter().enumerate() {
        let _ = write!(csv, "\n{}", field(&run.policy));
        for column in columns {
            csv.push(',');
            if let Some(value) = column.values[i] {
                let _ = write!(csv, "{value}");
            }
        }
    }
    csv + "\n"
}
