//! The tables of a comparison: both modes, cost and delays, the best of each column marked.

use crate::quality::Quality;
use crate::report::axis::name;
use crate::report::{Table, Unit};
use crate::{Averages, Comparison, Run};

/// One column of a table: its figures, what is good, and how they are shown.
struct Column {
    name: &'static str,
    values: Vec<Option<f64>>,
    small_is_good: Option<bool>,
    show: fn(f64) -> String,
}

fn spoken(seconds: f64) -> String {
    name(seconds, Unit::Seconds)
}

fn digits(value: f64) -> String {
    format!("{value:.3}")
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

pub(super) fn modes(runs: &[Run], qualities: &[Quality], mode: fn(&Run) -> Averages) -> Table {
    let of = |value: fn(&Averages) -> Option<f64>| runs.iter().map(|r| value(&mode(r))).collect();
    let quality = qualities.iter().map(|q| q.quality).collect();
    tabled(
        runs,
        &[
            Column {
                name: "Delay",
                values: of(|a| a.delay),
                small_is_good: Some(true),
                show: spoken,
            },
            Column {
                name: "Polls per entry",
                values: of(|a| a.polls_per_entry),
                small_is_good: Some(true),
                show: digits,
            },
            Column {
                name: "Recall",
                values: of(|a| a.recall),
                small_is_good: Some(false),
                show: digits,
            },
            Column { name: "Quality", values: quality, small_is_good: Some(false), show: digits },
        ],
    )
}

pub(super) fn costs(comparison: &Comparison) -> Table {
    let of = |value: fn(&Run) -> Option<f64>| comparison.runs.iter().map(value).collect();
    let column = |name, small_is_good, values, show| Column { name, values, small_is_good, show };
    let mut columns = vec![
        column("Polls", None, of(|r| Some(r.total.polls as f64)), whole as fn(f64) -> String),
        column("Found", Some(false), of(|r| Some(r.total.found as f64)), whole),
        column("Missed", Some(true), of(|r| Some(r.total.missed as f64)), whole),
        column("Open", Some(true), of(|r| Some(r.total.open as f64)), whole),
        column("Half within", Some(true), of(|r| Some(r.delays?.p50)), spoken),
        column("90 % within", Some(true), of(|r| Some(r.delays?.p90)), spoken),
        column("Longest", Some(true), of(|r| Some(r.delays?.max)), spoken),
        column("Fresh", Some(false), of(|r| r.freshness), digits),
        column("Site per hour, max", Some(true), of(|r| Some(r.load.hour_max.into())), whole),
    ];
    if comparison.runs.iter().any(|run| run.has_bytes) {
        let megabytes = of(|r| r.has_bytes.then_some(r.total.bytes as f64 / 1e6));
        columns.push(column("Volume, MB", Some(true), megabytes, whole));
    }
    columns.push(column("Quality", Some(false), comparison.both.clone(), digits));
    tabled(&comparison.runs, &columns)
}

fn tabled(runs: &[Run], columns: &[Column]) -> Table {
    let mut header = vec!["Policy".to_owned()];
    header.extend(columns.iter().map(|column| column.name.to_owned()));
    let cell = |column: &Column, i: usize| column.values[i].map_or("–".to_owned(), column.show);
    let row = |(i, run): (usize, &Run)| {
        let cells = columns.iter().map(|column| cell(column, i));
        std::iter::once(run.policy.clone()).chain(cells).collect()
    };
    let mut marked = Vec::new();
    for (j, column) in columns.iter().enumerate() {
        let defined = column.values.iter().copied().flatten();
        let best = match column.small_is_good {
            Some(true) => defined.reduce(f64::min),
            Some(false) => defined.reduce(f64::max),
            None => None,
        };
        let Some(best) = best.filter(|_| runs.len() > 1).map(column.show) else { continue };
        let rows = (0..runs.len()).filter(|i| cell(column, *i) == best);
        marked.extend(rows.map(|i| (i, j + 1)));
    }
    Table { header, rows: runs.iter().enumerate().map(row).collect(), marked }
}
