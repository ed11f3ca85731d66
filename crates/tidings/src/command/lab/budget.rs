//! `tidings lab budget`: runs strategies over a trace, each with the same number of polls.

use lab::budget::{BudgetOptions, BudgetSetting, PollAllowance, StrategyRun, spend_all_by};
use lab::{LearnsFrom, World};
use serde_json::{Value, json};

use super::run::trace_json;
use super::tables::{self, BestValue, FigureColumn, count, share, spoken};
use super::wanted::{self, RunFigures};
use crate::args::lab::LabBudgetArgs;
use crate::error::{CliError, input_error};
use crate::output::{print_json, say, spinner};

pub fn run(args: &LabBudgetArgs) -> Result<(), CliError> {
    if args.cycle.is_zero() || args.cycle > args.test {
        let message = "--cycle must be longer than 0 s and not longer than the test phase";
        return Err(input_error(format!("--cycle: {message}")));
    }
    let world = wanted::read_world(&args.traces, &args.wanted, args.times.window)?;
    let phases = super::phases(&world, args.times.start, args.train, args.test, args.warm_up)?;
    let setting = BudgetSetting {
        phases,
        allowance: args.budget.allowance,
        cycle: args.cycle,
        estimator: args.estimator,
        options: BudgetOptions {
            learn: args.learn,
            price: args.budget.price,
            ..args.as_published.options()
        },
    };
    let waiting = spinner("spending");
    let mut spent: Vec<(LearnsFrom, StrategyRun)> = Vec::new();
    for learns in wanted::ways(&world) {
        let threads = super::threads();
        let runs = spend_all_by(&world, &args.strategies, &setting, *learns, threads);
        spent.extend(runs.into_iter().map(|run| (*learns, run)));
    }
    waiting.finish_and_clear();
    if args.json {
        let runs: Vec<Value> = spent
            .iter()
            .map(|(learns, run)| {
                let mut shown = to_json(run);
                if let Some(units) = run.units {
                    shown["units"] = units.into();
                }
                if world.has_relevance() {
                    shown["learns"] = wanted::word(*learns).into();
                }
                shown
            })
            .collect();
        return print_json(&json!({ "trace": trace_json(&world, &phases), "runs": runs }));
    }
    let PollAllowance { polls, per } = args.budget.allowance;
    say!(
        "{} {} per {}, planned every {}; beliefs: {}; * marks the best of a column\n",
        count(polls as f64),
        if args.budget.price.is_some() { "units" } else { "polls" },
        polling::spoken(per),
        polling::spoken(args.cycle),
        args.estimator,
    )?;
    print(&spent)?;
    say_units(args, &spent)?;
    say_gains(&world, &spent)
}

/// Says what the polls of each strategy cost, if a poll has a price.
fn say_units(args: &LabBudgetArgs, spent: &[(LearnsFrom, StrategyRun)]) -> Result<(), CliError> {
    let Some(price) = args.budget.price else { return Ok(()) };
    say!("\nA poll costs {}. Units spent:", price.words())?;
    for (learns, run) in spent {
        let name = wanted::label(&run.spender.to_string(), *learns);
        say!("  {name}: {}", count(run.units.unwrap_or(0.0)))?;
    }
    Ok(())
}

/// Says what each strategy gains by knowing which entries are wanted.
fn say_gains(world: &World, spent: &[(LearnsFrom, StrategyRun)]) -> Result<(), CliError> {
    let (blind, knowing) = spent.split_at(spent.len() / 2);
    if !world.has_relevance() {
        return Ok(());
    }
    let (n_entries, n_wanted) = wanted::n_wanted(world);
    say!("\n{} of {} entries are wanted; only they count above", n_wanted, n_entries)?;
    let figures = |run: &StrategyRun| RunFigures {
        polls: run.polls,
        delay: run.delay,
        recall: run.completeness,
    };
    for ((_, all), (_, by_wanted)) in blind.iter().zip(knowing) {
        let name = all.spender.to_string();
        say!("{}", wanted::gain_in_words(&name, figures(all), figures(by_wanted)))?;
    }
    Ok(())
}

fn to_json(spent: &StrategyRun) -> Value {
    json!({
        "strategy": spent.spender.to_string(),
        "polls": spent.polls,
        "found": spent.found,
        "missed": spent.missed,
        "open": spent.open,
        "completeness": spent.completeness,
        "window_freshness": spent.window_freshness,
        "delay_seconds": spent.delay,
        "delay_sd_seconds": spent.delay_sd,
        "delay_max_seconds": spent.delay_max,
        "divergence_error": spent.divergence_error,
    })
}

fn print(spent: &[(LearnsFrom, StrategyRun)]) -> Result<(), CliError> {
    let name = |(learns, run): &(LearnsFrom, StrategyRun)| {
        wanted::label(&run.spender.to_string(), *learns)
    };
    let names: Vec<String> = spent.iter().map(name).collect();
    let column = |name, good, of: fn(&StrategyRun) -> Option<f64>, show| FigureColumn {
        name,
        good,
        values: spent.iter().map(|(_, run)| of(run)).collect(),
        show,
    };
    let number: fn(f64) -> String = |x| format!("{x:.2}");
    let columns = [
        column("Polls", BestValue::Neither, |s| Some(s.polls as f64), count),
        column("Completeness", BestValue::Large, |s| s.completeness, share),
        column("Window freshness", BestValue::Large, |s| s.window_freshness, share),
        column("Delay", BestValue::Small, |s| s.delay, spoken),
        column("± (sd)", BestValue::Small, |s| s.delay_sd, spoken),
        column("Longest", BestValue::Small, |s| s.delay_max, spoken),
        column("Missed", BestValue::Small, |s| Some(s.missed as f64), count),
        column("Divergence error", BestValue::Small, |s| s.divergence_error, number),
    ];
    tables::print("Strategy", &names, &columns)
}
