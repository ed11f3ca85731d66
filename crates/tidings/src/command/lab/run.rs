//! `tidings lab run`: policies over a trace, side by side.

use std::io::Write;

use lab::quality::Quality;
use lab::report::{Compared, Page, compared};
use lab::{Averages, Comparison, Phases, Run, Setting, World, WorldFeed};
use polling::hints::HintReading;
use polling::{Bounds, PolicySpec};
use serde_json::{Value, json};

use super::contender::{contenders, goal};
use super::files::{Output, csv_field, read_world};
use super::progress::watched;
use super::report;
use super::tables::{self, Column, Good, share, spoken};
use crate::args::lab::{Hints, QualityWeights, Run as Args};
use crate::failure::{Failure, input_error};
use crate::output::{print_json, say};

pub fn run(args: &Args) -> Result<(), Failure> {
    // The call is judged before the trace is read, which takes longer.
    let bounds = Bounds::new(args.alpha, args.beta, args.eta);
    let bounds = bounds.map_err(|e| input_error(e.to_string()))?;
    let contenders = contenders(args)?;
    let in_use = in_use(args)?;
    let goal = goal(args)?;
    let world = read_world(&args.traces, args.times.window)?;
    let setting = setting(args, &world, bounds)?;
    let mut polls_out = args.polls_out.as_deref().map(PollsOut::create).transpose()?;
    let mut runs = Vec::new();
    let goal = goal.map(|goal| goal.of(&world, &setting)).transpose()?;
    for contender in &contenders {
        let spec = contender.settled(&world, &setting, goal)?;
        runs.push(one(&world, &spec, &setting, polls_out.as_mut())?);
    }
    if let (Some(out), Some(file)) = (polls_out, &args.polls_out) {
        out.out.finish(file)?;
    }
    let QualityWeights { weights, mode_weights } = args.weights;
    let comparison = Comparison::of(runs, weights, mode_weights);
    if let Some(folder) = &args.report {
        report::write(folder, &page(&world, &setting, &comparison, in_use))?;
    }
    if args.json {
        return print_json(&to_json(&world, &setting.phases, &comparison));
    }
    print_tables(&world, &setting.phases, &comparison)
}

/// The report on the whole comparison.
fn page(world: &World, setting: &Setting, comparison: &Comparison, in_use: Option<usize>) -> Page {
    let shown = Compared { world, setting, comparison, prefix: "", in_use };
    let phases = &setting.phases;
    let n = world.feeds.iter().filter(|f| phases.first_poll(f.visible()).is_some()).count();
    Page {
        title: "Policies compared".to_owned(),
        lead: format!(
            "{} policies over {n} feeds, tested from {} to {}{}.",
            comparison.runs.len(),
            phases.test_start(),
            phases.end(),
            if phases.warm_up { " after a warm-up" } else { "" },
        ),
        sections: compared(&shown),
        command: report::command_line(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        limits: report::limits(),
    }
}

/// Which of the policies is the one in use.
fn in_use(args: &Args) -> Result<Option<usize>, Failure> {
    let Some(mark) = &args.mark else { return Ok(None) };
    let place = args.policies.iter().position(|policy| policy == mark);
    let refuse =
        || input_error(format!("--mark {mark}: not among the policies; add --policy {mark}"));
    place.map(Some).ok_or_else(refuse)
}

fn setting(args: &Args, world: &World, bounds: Bounds) -> Result<Setting, Failure> {
    let phases = Phases::over(world, args.times.start, args.train, args.test, args.warm_up);
    let phases = phases.map_err(|e| input_error(format!("--start, --train, --test: {e}")))?;
    super::tell_silence(world, &phases);
    let hints = match args.hints {
        Hints::None => HintReading::Ignore,
        Hints::Lower => HintReading::LowerBound,
        Hints::Exact => HintReading::Exact,
    };
    let threads = super::threads();
    Ok(Setting { bounds, hints, zone_secs: args.timezone, threads, ..Setting::new(phases) })
}

struct PollsOut {
    out: Output,
}

impl PollsOut {
    fn create(file: &std::path::Path) -> Result<PollsOut, Failure> {
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
) -> Result<Run, Failure> {
    let name = spec.to_string();
    watched(&name, world.feeds.len() as u64, |progress| {
        let Some(polls_out) = polls_out else {
            return Ok(lab::run(world, spec, setting, progress));
        };
        let mut tell = |feed: &WorldFeed, polls: &[feed::Time]| -> Result<(), std::io::Error> {
            let (policy, feed) = (csv_field(&name), csv_field(&feed.name));
            polls.iter().try_for_each(|at| writeln!(polls_out.out, "{policy},{feed},{at}"))
        };
        Ok(lab::run_and_tell(world, spec, setting, progress, Some(&mut tell))?)
    })
}

/// The trace as the contract shows it: what takes part.
pub fn trace_json(world: &World, phases: &Phases) -> Value {
    let taking_part = || world.feeds.iter().filter(|f| phases.first_poll(f.visible()).is_some());
    json!({
        "feeds": taking_part().count(),
        "entries": taking_part().map(|f| f.visible().len()).sum::<usize>(),
        "start": phases.start.to_string(),
        "train_seconds": phases.train.as_secs(),
        "test_seconds": phases.test.as_secs(),
    })
}

fn to_json(world: &World, phases: &Phases, comparison: &Comparison) -> Value {
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
        json!({
            "policy": run.policy,
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
        })
    });
    json!({ "trace": trace_json(world, phases), "runs": runs.collect::<Vec<_>>() })
}

fn print_tables(world: &World, phases: &Phases, comparison: &Comparison) -> Result<(), Failure> {
    let Comparison { runs, by_feed, by_entry, both } = comparison;
    let taking_part = world.feeds.iter().filter(|f| phases.first_poll(f.visible()).is_some());
    say!(
        "{} feeds, tested from {} to {}{}; * marks the best of a column\n",
        taking_part.count(),
        phases.test_start(),
        phases.end(),
        if phases.warm_up { " after a warm-up" } else { "" },
    )?;
    let names: Vec<String> = runs.iter().map(|run| run.policy.clone()).collect();
    let modes = [
        ("Every feed weighs the same", by_feed, (|run| run.by_feed) as fn(&Run) -> Averages),
        ("Every entry weighs the same", by_entry, |run| run.by_entry),
    ];
    for (title, qualities, mode) in modes {
        say!("{title}")?;
        let of =
            |value: fn(&Averages) -> Option<f64>| runs.iter().map(|r| value(&mode(r))).collect();
        let columns = [
            column("Delay", Good::Small, of(|a| a.delay), spoken),
            column("Polls per entry", Good::Small, of(|a| a.polls_per_entry), share),
            column("Recall", Good::Large, of(|a| a.recall), share),
            column("Quality", Good::Large, qualities.iter().map(|q| q.quality).collect(), share),
        ];
        tables::print("Policy", &names, &columns)?;
        say!("")?;
    }
    let of = |value: fn(&Run) -> Option<f64>| runs.iter().map(value).collect();
    let mut columns = vec![
        column("Polls", Good::Neither, of(|r| Some(r.total.polls as f64)), tables::count),
        column("Found", Good::Large, of(|r| Some(r.total.found as f64)), tables::count),
        column("Missed", Good::Small, of(|r| Some(r.total.missed as f64)), tables::count),
        column("Open", Good::Small, of(|r| Some(r.total.open as f64)), tables::count),
        column("Half within", Good::Small, of(|r| Some(r.delays?.p50)), spoken),
        column("99 % within", Good::Small, of(|r| Some(r.delays?.p99)), spoken),
        column("Longest", Good::Small, of(|r| Some(r.delays?.max)), spoken),
        column("Fresh", Good::Large, of(|r| r.freshness), share),
        column("Site/h max", Good::Small, of(|r| Some(r.load.hour_max.into())), tables::count),
        column("Quality", Good::Large, both.clone(), share),
    ];
    if runs.iter().any(|run| run.has_bytes) {
        let bytes = of(|r| r.has_bytes.then_some(r.total.bytes as f64));
        columns.insert(9, column("Volume", Good::Small, bytes, tables::bytes));
    }
    say!("Both modes together")?;
    tables::print("Policy", &names, &columns)
}

fn column(
    name: &'static str,
    good: Good,
    values: Vec<Option<f64>>,
    show: fn(f64) -> String,
) -> Column<'static> {
    Column { name, good, values, show }
}
