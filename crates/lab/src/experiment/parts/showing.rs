//! The part about visibility lags. Applies each kind of lag to the world of the definition, and
//! compares policies at the polls of a rival under the same conditions.

use polling::PolicySpec;

use super::{ExperimentReport, subject};
use crate::experiment::definition::ShowingPart;
use crate::report::{ReportSection, ReportTable};
use crate::run::calibration::{Goal, PolicyTemplate, calibrate};
use crate::{Phases, PolicyRun, RunProgress, Setting, run};

const POLICY: &str = "tide";

pub(in crate::experiment) fn showing(
    report: &mut ExperimentReport<'_>,
    given: &ShowingPart,
) -> Result<(), String> {
    let rival: PolicySpec = given.rival.parse().map_err(|e: polling::SpecError| e.to_string())?;
    let free = PolicyTemplate::of(POLICY).ok_or("tide has a price")?;
    let progress = RunProgress::default();
    let mut rows = Vec::new();
    for kind in &given.kinds {
        let world = kind.of(report.world, given.seed);
        let phases = Phases::over(&world, report.start, given.train, given.test, true);
        let phases = phases.map_err(|e| e.to_string())?;
        let setting = Setting { threads: report.threads, ..Setting::new(phases) };
        let rival = run(&world, &rival, &setting, &progress);
        let goal = Goal::polls_of(&rival);
        let tide = calibrate(&world, &free, goal, &setting, &progress);
        let tide = tide.map_err(|e| e.to_string())?.run;
        for (name, run) in [(given.rival.as_str(), &rival), (POLICY, &tide)] {
            let name = subject(kind.word(), name);
            report.values.add(&name, "entries.delay", run.by_entry.delay);
            report.values.add(&name, "polls", Some(run.total.polls as f64));
            report.values.add(&name, "entries.recall", run.by_entry.recall);
        }
        let delay = |run: &PolicyRun| run.by_entry.delay.unwrap_or(f64::NAN);
        let cells = [
            format!("{:.0}", delay(&rival)),
            format!("{:.0}", delay(&tide)),
            format!("{:.3}", delay(&tide) / delay(&rival)),
        ];
        rows.push(std::iter::once(kind.word().to_owned()).chain(cells).collect());
    }
    report.heading("Where entries become visible later than they claim, at equal polls");
    let header = ["Entries are shown", "Rival's delay in seconds", "Tide's", "Ratio"];
    let header = header.map(str::to_owned).to_vec();
    report.sections.push(ReportSection::Table(ReportTable::plain(header, rows)));
    Ok(())
}
