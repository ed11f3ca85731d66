//! Writes the figures as tables, with ratios from the same run.

use std::fmt::Write as _;

use super::idle::Idle;
use super::peers::{Competitor, MeasuredRun};

/// One program's figures.
pub struct ComparisonRow {
    pub peer: Competitor,
    pub cold: MeasuredRun,
    pub reload: MeasuredRun,
    pub n_items: usize,
    pub n_items_expected: usize,
}

/// All programs on one number of feeds.
pub struct ComparisonTable {
    pub n_feeds: usize,
    pub rows: Vec<ComparisonRow>,
}

pub fn preface() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown").to_owned();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "# Benchmarks\n\nWritten by `make bench WRITE=--write`; do not edit. All programs load \
         from the same nginx on loopback in the same run: RSS 2.0, 10 items, 3.9 KB a feed, ETag \
         and Last-Modified, kept alive. {cores} cores, load {load} at the start. Processor \
         seconds are the reliable figure; wall time depends on the load of this machine.\n\
         newsboat sends validators from its third reload on, so its third is the one shown.\n"
    )
}

pub fn comparison(found: &ComparisonTable) -> String {
    let mut text = format!(
        "\n## {} feeds\n\n| program | cold wall s | cold CPU s | items | statuses | unchanged wall \
         s | unchanged CPU s | CPU ms a feed | statuses | peak MB |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
        found.n_feeds
    );
    for row in &found.rows {
        let (cold, reload) = (&row.cold.cost, &row.reload.cost);
        let peak = cold.memory_bytes_peak.max(reload.memory_bytes_peak);
        let _ = writeln!(
            text,
            "| {} | {:.2} | {:.2} | {} of {} | {} | {:.2} | {:.2} | {:.3} | {} | {:.0} |",
            row.peer.name(),
            cold.wall_seconds,
            cold.cpu_seconds,
            row.n_items,
            row.n_items_expected,
            statuses(&row.cold),
            reload.wall_seconds,
            reload.cpu_seconds,
            reload.cpu_seconds * 1000.0 / found.n_feeds as f64,
            statuses(&row.reload),
            megabytes(peak),
        );
    }
    text + &ratios(found)
}

/// Returns the cost of the other programs as multiples of ours.
fn ratios(found: &ComparisonTable) -> String {
    let Some(ours) = found.rows.iter().find(|r| r.peer == Competitor::Tidings) else {
        return String::new();
    };
    let mut text = String::new();
    for row in found.rows.iter().filter(|r| r.peer != Competitor::Tidings) {
        let times = |of: fn(&ComparisonRow) -> f64| of(row) / of(ours).max(0.01);
        let _ = write!(
            text,
            "\n{} compared with tidings: cold {:.1} × CPU and {:.1} × wall, unchanged {:.1} × CPU \
             and {:.1} × wall.\n",
            row.peer.name(),
            times(|r| r.cold.cost.cpu_seconds),
            times(|r| r.cold.cost.wall_seconds),
            times(|r| r.reload.cost.cpu_seconds),
            times(|r| r.reload.cost.wall_seconds),
        );
    }
    text
}

fn statuses(load: &MeasuredRun) -> String {
    let parts: Vec<String> = load.statuses.iter().map(|(s, n)| format!("{s}: {n}")).collect();
    parts.join(", ")
}

pub fn idle(found: &Idle) -> String {
    format!(
        "\n## Idle feeds\n\n| measure | value |\n|---|---|\n\
         | resident memory, {} feeds waited for | {:.1} MB |\n\
         | resident memory, {} feeds waited for | {:.1} MB |\n\
         | bytes for each further feed | {:.0} |\n\
         | first polls of all {} (`feed poll --all`) | {:.1} s |\n\
         | start of the daemon to its first poll, {} feeds | {:.2} s |\n",
        found.n_base,
        megabytes(found.base_bytes),
        found.n_feeds,
        megabytes(found.bytes),
        found.bytes_per_feed(),
        found.n_feeds,
        found.load_seconds,
        found.n_feeds,
        found.restart_seconds,
    )
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::measure::Cost;
    use super::*;

    fn row(peer: Competitor, cpu_seconds: f64) -> ComparisonRow {
        let load = || MeasuredRun {
            cost: Cost {
                wall_seconds: 1.0,
                cpu_seconds,
                memory_bytes_peak: 5 << 20,
                stdout: String::new(),
            },
            statuses: BTreeMap::from([("304".to_owned(), 7)]),
        };
        ComparisonRow { peer, cold: load(), reload: load(), n_items: 9, n_items_expected: 10 }
    }

    #[test]
    fn ratios_are_taken_against_our_own_row() {
        let rows = vec![row(Competitor::Tidings, 0.5), row(Competitor::Newsboat, 5.0)];
        let text = comparison(&ComparisonTable { n_feeds: 1000, rows });
        assert!(text.contains("| tidings | 1.00 | 0.50 | 9 of 10 | 304: 7 |"), "{text}");
        assert!(text.contains("newsboat compared with tidings: cold 10.0 × CPU"), "{text}");
    }
}
