//! `tidings lab run`: compares policies over a trace.

use std::io::Write;

use feed::Time;
use lab::measure::quality::Quality;
use lab::report::{ComparisonInput, ReportPage, comparison_sections, costs, modes};
use lab::{
    Averages, ChosenStart, LearnsFrom, Participation, Phases, PolicyComparison, PolicyRun, Setting,
    World, WorldFeed,
};
use polling::hints::HintReading;
use polling::{Bounds, PolicySpec};
use serde_json::{Value, json};

use super::contender::{contenders, goal};
use super::files::{Output, csv_field};
use super::progress::watched;
use super::report;
use super::tables;
use super::wanted::{self, RunFigures};
use crate::args::lab::{LabRunArgs, QualityWeights, SimulatedHints, TraceArgs};
use crate::error::{CliError, input_error};
use crate::output::{print_json, say};

pub fn run(args: &LabRunArgs) -> Result<(), CliError> {
    // The arguments are checked before the trace is read, because reading takes longer.
    let bounds = Bounds::new(args.alpha, args.beta, args.eta);
    let bounds = bounds.map_err(|e| input_error(e.to_string()))?;
    let contenders = contenders(args)?;
    let in_use = in_use(args)?;
    let goal = goal(args)?;
    if let Some(folder) = &args.report {
        report::check_folder(folder, args.force)?;
    }
    let world = wanted::read_world(&args.traces, &args.wanted, args.times.window)?;
    let setting = setting(args, &world, bounds)?;
    let mut polls_out = args.polls_out.as_deref().map(PollsOut::create).transpose()?;
    let mut runs = Vec::new();
    let goal = goal.map(|goal| goal.of(&world, &setting)).transpose()?;
    let mut specs = Vec::new();
    for contender in &contenders {
        for learns in wanted::ways(&world) {
            let setting = Setting { learns: *learns, ..setting };
            let spec = contender.settled(&world, &setting, goal)?;
            runs.push(one(&world, &spec, &setting, polls_out.as_mut())?);
            specs.push((spec, *learns));
        }
    }
    let in_use = in_use.map(|place| place * wanted::ways(&world).len());
    if let (Some(out), Some(file)) = (polls_out, &args.polls_out) {
        out.out.finish(file)?;
    }
    let QualityWeights { weights, mode_weights } = args.weights;
    let comparison = PolicyComparison::of(runs, weights, mode_weights);
    if let Some(folder) = &args.report {
        let by_trace = by_trace(args, &specs, &setting)?;
        report::write(folder, &page(&world, &setting, &comparison, in_use, &by_trace))?;
    }
    if args.json {
        return print_json(&to_json(&world, &setting.phases, &comparison, &specs));
    }
    print_tables(&world, &setting.phases, &comparison)?;
    say_gains(&world, &comparison)
}

/// A policy with all its parameters, and the entries that it learns from.
type SettledPolicy = (PolicySpec, LearnsFrom);

/// Says what each policy gains by learning from the wanted entries only.
fn say_gains(world: &World, comparison: &PolicyComparison) -> Result<(), CliError> {
    if !world.has_relevance() {
        return Ok(());
    }
    let (n_entries, n_wanted) = wanted::n_wanted(world);
    say!("\n{} of {} entries are wanted; only they count above", n_wanted, n_entries)?;
    for pair in comparison.runs.chunks_exact(2) {
        let figures = |run: &PolicyRun| RunFigures {
            polls: run.total.polls,
            delay: run.by_entry.delay,
            recall: run.by_entry.recall,
        };
        let (all, by_wanted) = (figures(&pair[0]), figures(&pair[1]));
        say!("{}", wanted::gain_in_words(&pair[0].policy, all, by_wanted))?;
    }
    Ok(())
}

/// Runs the same policies on each trace alone, if there are several. This shows how far the figures
/// differ.
fn by_trace(
    args: &LabRunArgs,
    specs: &[SettledPolicy],
    setting: &Setting,
) -> Result<Vec<Vec<PolicyRun>>, CliError> {
    let files = &args.traces.files;
    // Standard input cannot be read a second time.
    if files.len() < 2 || files.iter().any(|file| file.as_os_str() == "-") {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for file in files {
        let alone = TraceArgs { files: vec![file.clone()] };
        let world = wanted::read_world(&alone, &args.wanted, args.times.window)?;
        if Participation::of(&world, &setting.phases).taking_part > 0 {
            let run = |(spec, learns): &SettledPolicy| {
                one(&world, spec, &Setting { learns: *learns, ..*setting }, None)
            };
            all.push(specs.iter().map(run).collect::<Result<Vec<PolicyRun>, CliError>>()?);
        }
    }
    Ok(all)
}

/// Describes the test phase.
fn tested(phases: &Phases) -> String {
    let warm_up = if phases.warm_up { " after a warm-up" } else { "" };
    format!("tested from {} to {}{warm_up}", phases.test_start(), phases.end())
}

/// Returns the report on the whole comparison.
fn page(
    world: &World,
    setting: &Setting,
    comparison: &PolicyComparison,
    in_use: Option<usize>,
    by_trace: &[Vec<PolicyRun>],
) -> ReportPage {
    let hues: Vec<usize> = (0..comparison.runs.len()).collect();
    let hues = &hues[..];
    let shown = ComparisonInput { world, setting, comparison, prefix: "", in_use, hues, by_trace };
    let n = Participation::of(world, &setting.phases).taking_part;
    let (policies, tested) = (comparison.runs.len(), tested(&setting.phases));
    ReportPage {
        title: "Policies compared".to_owned(),
        lead: format!("{policies} policies over {n} feeds, {tested}."),
        sections: comparison_sections(&shown),
        command: report::command_line(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        limits: report::limits(),
    }
}

/// Returns which of the policies is in use.
fn in_use(args: &LabRunArgs) -> Result<Option<usize>, CliError> {
    let Some(mark) = &args.mark else { return Ok(None) };
    let place = args.policies.iter().position(|policy| policy == mark);
    let refuse =
        || input_error(format!("--mark {mark}: not among the policies; add --policy {mark}"));
    place.map(Some).ok_or_else(refuse)
}

fn setting(args: &LabRunArgs, world: &World, bounds: Bounds) -> Result<Setting, CliError> {
    let start = args.times.start.or_else(|| choose_start(world, args));
    let phases = super::phases(world, start, args.train, args.test, args.warm_up)?;
    let hints = match args.hints {
        SimulatedHints::None => HintReading::Ignore,
        SimulatedHints::Lower => HintReading::LowerBound,
        SimulatedHints::Exact => HintReading::Exact,
    };
    let threads = super::threads();
    Ok(Setting { bounds, hints, zone_secs: args.timezone, threads, ..Setting::new(phases) })
}

/// Chooses the start of a run without `--start`. Prints the start and the reason.
fn choose_start(world: &World, args: &LabRunArgs) -> Option<Time> {
    let ChosenStart { start, first, existing, feeds } =
        lab::chosen_start(world, args.train, args.test)?;
    let why = if start == first { "the first entry" } else { "later than the first entry" };
    eprintln!(
        "tidings: --start {start} ({why}): {existing} of {feeds} feeds exist when the test begins"
    );
    Some(start)
}

struct PollsOut {
    out: Output,
}

impl PollsOut {
    fn create(file: &std::path::Path) -> Result<PollsOut, CliError> {
        let mut out = Output::create(file)?;
        writeln!(out, "policy,feed,time")?;
        Ok(PollsOut { out })
    }
}

fn one(
    world: &World,
    spec: &PolicySpec,
    setting: &Setting,
    polls_out: Option<&mut PollsOut>,
) -> Result<PolicyRun, CliError> {
    let name = wanted::label(&spec.to_string(), setting.learns);
    let named = |run: PolicyRun| PolicyRun { policy: name.clone(), ..run };
    watched(&name, world.feeds.len() as u64, |progress| {
        let Some(polls_out) = polls_out else {
            return Ok(named(lab::run(world, spec, setting, progress)));
        };
        let mut tell = |feed: &WorldFeed, polls: &[Time]| -> Result<(), std::io::Error> {
            let (policy, feed) = (csv_field(&name), csv_field(&feed.name));
            polls.iter().try_for_each(|at| writeln!(polls_out.out, "{policy},{feed},{at}"))
        };
        Ok(named(lab::run_and_tell(world, spec, setting, progress, Some(&mut tell))?))
    })
}

/// Returns the trace as JSON; only feeds that take part are counted.
pub fn trace_json(world: &World, phases: &Phases) -> Value {
    let taking_part = || world.feeds.iter().filter(|f| phases.first_poll(f.visible()).is_some());
    let counted = Participation::of(world, phases);
    let mut shown = json!({
        "feeds": counted.taking_part,
        "feeds_in_trace": counted.in_world,
        "feeds_after_the_end": counted.after_the_end,
        "feeds_begun_in_test": counted.begun_in_test,
        "feeds_silent_in_test": counted.silent,
        "entries": taking_part().map(|f| f.visible().len()).sum::<usize>(),
        "start": phases.start.to_string(),
        "train_seconds": phases.train.as_secs(),
        "test_seconds": phases.test.as_secs(),
    });
    if world.has_relevance() {
        shown["wanted_entries"] = wanted::n_wanted(world).1.into();
    }
    shown
}

fn to_json(
    world: &World,
    phases: &Phases,
    comparison: &PolicyComparison,
    specs: &[SettledPolicy],
) -> Value {
    let runs = comparison.runs.iter().enumerate().map(|(i, run)| {
        let averages = |averages: &Averages, quality: &Quality| {
            json!({
                "delay_seconds": averages.delay,
                "polls_per_entry": averages.polls_per_entry,
                "recall": averages.recall,
                "quality": quality.quality,
            })
        };
        let quantile = |of: fn(&lab::Quantiles) -> f64| run.delays.as_ref().map(of);
        let (spec, learns) = &specs[i];
        let mut shown = json!({
            "policy": spec.to_string(),
            "polls": run.total.polls,
            "found": run.total.found,
            "missed": run.total.missed,
            "open": run.total.open,
            "bytes": run.has_bytes.then_some(run.total.bytes),
            "weighted_delay_seconds": run.weighted_delay,
            "feeds": averages(&run.by_feed, &comparison.by_feed[i]),
            "entries": averages(&run.by_entry, &comparison.by_entry[i]),
            "quality": comparison.both[i],
            "delay_quantiles_seconds": {
                "p50": quantile(|q| q.p50),
                "p90": quantile(|q| q.p90),
                "p99": quantile(|q| q.p99),
                "max": quantile(|q| q.max),
            },
            "freshness": run.freshness,
            "age_seconds": run.age,
            "window_freshness": run.window_freshness,
            "site_polls_per_hour": { "mean": run.load.hour_mean(), "max": run.load.hour_max },
        });
        if world.has_relevance() {
            shown["learns"] = wanted::word(*learns).into();
        }
        shown
    });
    json!({ "trace": trace_json(world, phases), "runs": runs.collect::<Vec<_>>() })
}

fn print_tables(
    world: &World,
    phases: &Phases,
    comparison: &PolicyComparison,
) -> Result<(), CliError> {
    let PolicyComparison { runs, by_feed, by_entry, .. } = comparison;
    say!("{}", Participation::of(world, phases).in_words())?;
    say!("Policies {}; * marks the best of a column\n", tested(phases))?;
    say!("Every feed weighs the same")?;
    tables::print_table(&modes(runs, by_feed, |run| run.by_feed))?;
    say!("\nEvery entry weighs the same")?;
    tables::print_table(&modes(runs, by_entry, |run| run.by_entry))?;
    say!("\nBoth modes together")?;
    tables::print_table(&costs(comparison))
}
