//! The part with statistics of the world: update patterns, activity classes, shapes.

use super::ExperimentReport;
use crate::report::{ReportSection, ReportTable};
use crate::world::stats as counting;

pub(in crate::experiment) fn stats(report: &mut ExperimentReport<'_>) {
    let Some(stats) = counting::stats(report.world) else { return };
    let share = |n: usize, of: usize| n as f64 / of.max(1) as f64;
    let mut rows = Vec::new();
    for (pattern, n) in &stats.patterns {
        let name = pattern.word().replace(' ', "-");
        report.values.add(&format!("pattern/{name}"), "share", Some(share(*n, stats.feeds)));
        rows.push(vec![name, n.to_string(), format!("{:.3}", share(*n, stats.feeds))]);
    }
    report.heading("Update patterns");
    let header = ["Pattern", "Feeds", "Share"].map(str::to_owned).to_vec();
    report.sections.push(ReportSection::Table(ReportTable::plain(header, rows)));
    let mut rows = Vec::new();
    for class in &stats.classes {
        let subject = format!("class/{}", class.above_per_day);
        let of = |n: usize| share(n, class.feeds);
        report.values.add(&subject, "share", Some(share(class.feeds, stats.feeds)));
        report.values.add(&subject, "uniform", Some(of(class.uniform)));
        report.values.add(&subject, "waves", Some(of(class.waves)));
        report.values.add(&subject, "peaks", Some(of(class.peaks)));
        report.values.add(&subject, "periodic", Some(of(class.periodic)));
        let shares =
            [class.peaks, class.uniform, class.waves, class.periodic, class.periodic_active];
        let mut row = vec![format!("> {}", class.above_per_day), class.feeds.to_string()];
        row.extend(shares.map(|n| format!("{:.2}", of(n))));
        rows.push(row);
    }
    report.heading("Activity classes, shapes and periodicity");
    let header = [
        "Entries a day",
        "Feeds",
        "Peaks",
        "Uniform",
        "Waves",
        "Periodic",
        "Periodic, active hours",
    ];
    let header = header.map(str::to_owned).to_vec();
    report.sections.push(ReportSection::Table(ReportTable::plain(header, rows)));
}
