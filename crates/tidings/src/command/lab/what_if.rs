//! `tidings lab what-if`: what other policies and budgets would have brought on the own feeds.

use std::time::Duration;

use feed::Time;
use lab::matching::{Free, matched};
use lab::{Phases, Progress, Run, Setting, World};
use polling::budget::Budget;
use polling::spoken;
use serde_json::{Value, json};

use super::history::{self, OwnFeed};
use crate::args::lab::WhatIf;
use crate::config::Config;
use crate::failure::{Failure, failed, input_error};
use crate::output::{self, print_json, print_line};
use crate::{access, config};

/// Policies whose free parameter can be set so that they spend a given number of polls.
const RIVALS: [&str; 4] = ["fix:?", "adaptive-ttl:?", "indhist:?", "entry-frequency"];
/// Below this nothing that is said would mean anything.
const ENTRIES_MIN: u64 = 20;
const SPAN_MIN: Duration = Duration::from_secs(2 * 86_400);
/// How many entries a feed shows where that was never recorded.
const WINDOW: u32 = 20;

pub fn run(args: &WhatIf) -> Result<(), Failure> {
    let config = config::read_offline(&args.place)?;
    let own = history::read(&access::read(&config)?)?;
    let world = history::world(&own, WINDOW);
    let setting = setting(&world, &own, &config)?;
    let waiting = output::spinner("living through it again");
    let told = tell(&world, &setting, &config, args.budget.as_ref())?;
    waiting.finish_and_clear();
    if args.json {
        return print_json(&told.json());
    }
    told.print()?;
    print_line(&format!("\n{}", history::blind_spots(&own)))
}

/// The first third of the recorded time teaches the policies, the rest counts.
fn setting(world: &World, own: &[OwnFeed], config: &Config) -> Result<Setting, Failure> {
    let first = own.iter().filter_map(|own| own.first_look).min();
    let (Some(first), Some((_, last))) = (first, world.span()) else { return Err(too_little()) };
    let span = last.since(first);
    if span < SPAN_MIN {
        return Err(too_little());
    }
    let phases = Phases::over(world, Some(first), span / 3, span - span / 3, true);
    let phases = phases.map_err(|e| failed(e.to_string()))?;
    let threads = super::threads();
    Ok(Setting { bounds: config.engine.bounds, threads, trained: false, ..Setting::new(phases) })
}

fn too_little() -> Failure {
    failed(format!(
        "too little was recorded to say anything: at least {} and {ENTRIES_MIN} entries are needed",
        spoken(SPAN_MIN)
    ))
}

/// What would have been.
struct Told {
    now: Run,
    same: Vec<Run>,
    /// The best of the rivals with other numbers of polls: the factor, and what came of it.
    other: Vec<(f64, Run)>,
    from: Time,
    to: Time,
    n_feeds: usize,
}

fn tell(
    world: &World,
    setting: &Setting,
    config: &Config,
    budget: Option<&Budget>,
) -> Result<Told, Failure> {
    let progress = Progress::default();
    let now = lab::run(world, &config.engine.policy, setting, &progress);
    if now.total.found < ENTRIES_MIN {
        return Err(too_little());
    }
    let test = setting.phases.end().since(setting.phases.test_start());
    let polls = match budget {
        Some(budget) => (budget.polls_per_day() * test.as_secs_f64() / 86_400.0) as u64,
        None => now.total.polls,
    };
    let spending = |text: &str, polls: u64| -> Result<Option<Run>, Failure> {
        let Some(free) = Free::of(text) else { return Ok(None) };
        let found = matched(world, &free, polls.max(1), setting, &progress);
        let found = found.map_err(|e| input_error(e.to_string()))?;
        Ok(found.reached.then_some(found.run))
    };
    let mut same = Vec::new();
    for text in RIVALS {
        same.extend(spending(text, polls)?.map(|run| (text, run)));
    }
    same.sort_by(|(_, a), (_, b)| delay(a).total_cmp(&delay(b)));
    let mut other = Vec::new();
    if let Some((best, _)) = same.first() {
        for factor in [0.5, 2.0] {
            let run = spending(best, (polls as f64 * factor) as u64)?;
            other.extend(run.map(|run| (factor, run)));
        }
    }
    Ok(Told {
        now,
        same: same.into_iter().map(|(_, run)| run).collect(),
        other,
        from: setting.phases.test_start(),
        to: setting.phases.end(),
        n_feeds: world.feeds.len(),
    })
}

/// The mean delay of entries in seconds; a policy that found none comes last.
fn delay(run: &Run) -> f64 {
    run.by_entry.delay.unwrap_or(f64::INFINITY)
}

impl Told {
    fn print(&self) -> Result<(), Failure> {
        print_line(&format!(
            "From {} to {}, {} feeds: with `{}` {}.",
            self.from,
            self.to,
            self.n_feeds,
            self.now.policy,
            measures(&self.now)
        ))?;
        for run in &self.same {
            print_line(&format!("With `{}` {}: {}.", run.policy, measures(run), self.sooner(run)))?;
        }
        for (factor, run) in &self.other {
            let share = if *factor < 1.0 { "half the polls" } else { "twice the polls" };
            print_line(&format!(
                "With {share} and `{}` {}: {}.",
                run.policy,
                measures(run),
                self.sooner(run)
            ))?;
        }
        Ok(())
    }

    /// How much sooner entries would have been seen than now.
    fn sooner(&self, run: &Run) -> String {
        let gain = delay(&self.now) - delay(run);
        if !gain.is_finite() {
            return "no entry would have been found".to_owned();
        }
        let by = spoken(Duration::from_secs_f64(gain.abs().round()));
        match gain.round() {
            0.0 => "you would have seen entries at the same time".to_owned(),
            gain if gain > 0.0 => format!("you would have seen entries {by} sooner"),
            _ => format!("you would have seen entries {by} later"),
        }
    }

    fn json(&self) -> Value {
        json!({
            "from": self.from.to_string(),
            "to": self.to.to_string(),
            "feeds": self.n_feeds,
            "now": figures(&self.now),
            "same_polls": self.same.iter().map(figures).collect::<Vec<_>>(),
            "other_polls": self.other.iter().map(|(factor, run)| {
                let mut row = figures(run);
                row["factor"] = json!(factor);
                row
            }).collect::<Vec<_>>(),
        })
    }
}

fn measures(run: &Run) -> String {
    let late = run.by_entry.delay.map_or_else(
        || "and finds nothing".to_owned(),
        |s| {
            format!(
                "and see entries {} late on average",
                spoken(Duration::from_secs_f64(s.round()))
            )
        },
    );
    format!(
        "you make {} polls {late}, {} of {} entries",
        run.total.polls,
        run.total.found,
        run.total.found + run.total.missed + run.total.open
    )
}

fn figures(run: &Run) -> Value {
    json!({
        "policy": run.policy,
        "polls": run.total.polls,
        "delay_seconds": run.by_entry.delay,
        "recall": run.by_entry.recall,
        "found": run.total.found,
    })
}

#[cfg(test)]
mod tests {
    use polling::PolicySpec;

    use super::*;

    #[test]
    fn every_rival_is_a_policy_with_a_free_parameter() {
        for text in RIVALS {
            assert!(Free::of(text).is_some(), "{text}");
            let known = |value| text.replace('?', value).parse::<PolicySpec>().is_ok();
            assert!(known("0.5") || known("1h"), "{text}");
        }
    }
}
