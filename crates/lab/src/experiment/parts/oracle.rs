//! The part that measures the distance from the optimum. The same price with the true rates is the
//! best that any model can reach at that number of polls.

use feed::Time;
use polling::PolicySpec;

use super::ExperimentReport;
use crate::experiment::definition::OraclePart;
use crate::report::{ReportSection, ReportTable};
use crate::run::calibration::{CalibratedRun, Goal, PolicyTemplate, calibrate, calibrate_by};
use crate::world::known_rates::{KnownWorld, KnownWorldSpec};
use crate::{Phases, PolicyRun, RunProgress, Setting, run, run_knowing};

/// A Monday. No world depends on it.
const START: Time = Time::from_secs(1_704_067_200);
const POLICY: &str = "tide";

pub(in crate::experiment) fn oracle(
    report: &mut ExperimentReport<'_>,
    given: &OraclePart,
) -> Result<(), String> {
    let days = (given.train + given.test).as_secs().div_ceil(86_400) as i64;
    let spec =
        KnownWorldSpec { seed: given.seed, feeds: given.feeds, start: START, days, change: None };
    let known = KnownWorld::draw(&spec);
    let phases = Phases::over(&known.world, Some(START), given.train, given.test, true);
    let phases = phases.map_err(|e| e.to_string())?;
    let setting = Setting { threads: report.threads, ..Setting::new(phases) };
    let progress = RunProgress::default();
    let rival: PolicySpec = given.rival.parse().map_err(|e: polling::SpecError| e.to_string())?;
    let rival = run(&known.world, &rival, &setting, &progress);
    let goal = Goal::polls_of(&rival);
    let free = PolicyTemplate::of(POLICY).ok_or("tide has a price")?;
    let told = |found: Result<CalibratedRun, polling::SpecError>| {
        found.map(|found| found.run).map_err(|e| e.to_string())
    };
    let learned = told(calibrate(&known.world, &free, goal, &setting, &progress))?;
    let knowing =
        |spec: &PolicySpec| run_knowing(&known.world, spec, &setting, &known.models, &progress);
    let oracle = told(calibrate_by(&free, goal, knowing))?;
    let delay = |run: &PolicyRun| run.by_entry.delay.unwrap_or(f64::NAN);
    let gap = delay(&rival) - delay(&oracle);
    let closed = (delay(&rival) - delay(&learned)) / gap;
    let mut rows = Vec::new();
    for (name, run) in [(given.rival.as_str(), &rival), (POLICY, &learned), ("oracle", &oracle)] {
        report.values.add(name, "entries.delay", run.by_entry.delay);
        report.values.add(name, "polls", Some(run.total.polls as f64));
        report.values.add(name, "entries.recall", run.by_entry.recall);
        let share = (delay(&rival) - delay(run)) / gap;
        let cells = [
            run.total.polls.to_string(),
            format!("{:.0}", delay(run)),
            format!("{:.4}", run.by_entry.recall.unwrap_or(f64::NAN)),
            format!("{:.0} %", 100.0 * share),
        ];
        rows.push(std::iter::once(name.to_owned()).chain(cells).collect());
    }
    report.values.add(POLICY, "gap_closed", Some(closed).filter(|share| share.is_finite()));
    report.heading("With the true rate, at equal polls");
    let header = ["Policy", "Polls", "Delay in seconds", "Recall", "Of the gap"];
    let header = header.map(str::to_owned).to_vec();
    report.sections.push(ReportSection::Table(ReportTable::plain(header, rows)));
    Ok(())
}
