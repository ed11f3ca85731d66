//! The part that compares policies.

use polling::hints::HintReading;
use polling::{Bounds, PolicySpec};

use super::{ExperimentReport, subject};
use crate::experiment::Values;
use crate::experiment::definition::{HintsWord, RunPart};
use crate::measure::quality::{ModeWeights, Weights};
use crate::report::{ComparisonInput, ReportSection, ReportTable, comparison_sections};
use crate::run::calibration::{self, Goal, PolicyTemplate};
use crate::{Averages, Phases, PolicyComparison, PolicyRun, RunProgress, Setting, World};

pub(in crate::experiment) fn run(
    report: &mut ExperimentReport<'_>,
    given: &RunPart,
) -> Result<(), String> {
    let bounds = Bounds::new(given.alpha, given.beta, given.eta).map_err(|e| e.to_string())?;
    let phases = Phases::over(report.world, report.start, given.train, given.test, given.warm_up);
    let phases = phases.map_err(|e| e.to_string())?;
    let hints = match given.hints {
        HintsWord::None => HintReading::Ignore,
        HintsWord::Lower => HintReading::LowerBound,
        HintsWord::Exact => HintReading::Exact,
    };
    let setting = Setting { bounds, hints, threads: report.threads, ..Setting::new(phases) };
    let runs = runs(report.world, given, &setting)?;
    let [delay, polls_per_entry, recall] = given.weights;
    let [feeds, entries] = given.mode_weights;
    let weights = Weights { delay, polls_per_entry, recall };
    let comparison = PolicyComparison::of(runs, weights, ModeWeights { feeds, entries });
    for (i, run) in comparison.runs.iter().enumerate() {
        // The figures of a calibrated policy have the name that the definition gives it.
        let subject = subject(&given.label, &given.policies[i]);
        let quality = [comparison.by_feed[i].quality, comparison.by_entry[i].quality];
        note_run(&mut report.values, &subject, run, quality, comparison.both[i]);
    }
    let prefix = if given.label.is_empty() { String::new() } else { format!("{}-", given.label) };
    if !given.label.is_empty() {
        report.heading(&format!("Part “{}”", given.label));
    }
    if given.brief {
        report.sections.push(ReportSection::Table(brief(&comparison.runs)));
        return Ok(());
    }
    let hues: Vec<usize> = given.policies.iter().map(|name| report.palette.hue(name)).collect();
    let shown = ComparisonInput {
        world: report.world,
        setting: &setting,
        comparison: &comparison,
        prefix: &prefix,
        in_use: None,
        hues: &hues,
        by_trace: &[],
    };
    report.sections.extend(comparison_sections(&shown));
    Ok(())
}

/// Returns a short table of a comparison.
fn brief(runs: &[PolicyRun]) -> ReportTable {
    let shown = |value: Option<f64>, digits: usize| {
        value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
    };
    let row = |run: &PolicyRun| {
        vec![
            run.policy.clone(),
            run.total.polls.to_string(),
            shown(run.by_entry.delay, 0),
            shown(run.by_feed.delay, 0),
            shown(run.by_entry.recall, 4),
        ]
    };
    let header = ["Policy", "Polls", "Delay of entries, s", "of feeds", "Recall"];
    let rows = runs.iter().map(row).collect();
    ReportTable::plain(header.map(str::to_owned).to_vec(), rows)
}

fn runs(world: &World, given: &RunPart, setting: &Setting) -> Result<Vec<PolicyRun>, String> {
    let progress = RunProgress::default();
    let parse = |text: &str| text.parse::<PolicySpec>().map_err(|e| e.to_string());
    let run_of = |text: &str| Ok(crate::run(world, &parse(text)?, setting, &progress));
    let goal = match (&given.match_polls, &given.match_delay) {
        (Some(_), Some(_)) => return Err("match polls or delay, not both".to_owned()),
        (Some(rival), None) => run_of(rival).map(|run| Some(Goal::polls_of(&run))),
        (None, Some(rival)) => run_of(rival).map(|run| Goal::delay_of(&run)),
        (None, None) => Ok(None),
    }?;
    let one = |text: &String| match (goal, PolicyTemplate::of(text)) {
        (Some(goal), Some(free)) => {
            let found = calibration::calibrate(world, &free, goal, setting, &progress);
            found.map(|found| found.run).map_err(|e| e.to_string())
        }
        _ => run_of(text),
    };
    given.policies.iter().map(one).collect()
}

fn note_run(
    values: &mut Values,
    subject: &str,
    run: &PolicyRun,
    quality: [Option<f64>; 2],
    both: Option<f64>,
) {
    let mut add = |measure: &str, value| values.add(subject, measure, value);
    for (mode, averages, quality) in
        [("feeds", run.by_feed, quality[0]), ("entries", run.by_entry, quality[1])]
    {
        let Averages { delay, polls_per_entry, recall } = averages;
        add(&format!("{mode}.delay"), delay);
        add(&format!("{mode}.polls_per_entry"), polls_per_entry);
        add(&format!("{mode}.recall"), recall);
        add(&format!("{mode}.quality"), quality);
    }
    let total = &run.total;
    add("quality", both);
    add("polls", Some(total.polls as f64));
    add("found", Some(total.found as f64));
    add("missed", Some(total.missed as f64));
    add("bytes", run.has_bytes.then_some(total.bytes as f64));
    add("delay.p50", run.delays.map(|q| q.p50));
    add("delay.p99", run.delays.map(|q| q.p99));
    add("delay.max", run.delays.map(|q| q.max));
    add("freshness", run.freshness);
    // Polls per day and participating feed.
    let watched_days = total.watched_ms as f64 / 86_400_000.0;
    add("polls_per_day", (watched_days > 0.0).then(|| total.polls as f64 / watched_days));
}
