//! `tidings lab what-if`: compares other policies and budgets on the instance's own history, in
//! words.

use std::time::Duration;

use lab::budget::PollAllowance;
use lab::{Alternative, Phases, Setting, World};
use polling::hints::HintReading;
use serde_json::{Value, json};

use super::history::{self, OwnFeed};
use super::stats::WINDOW;
use super::tables::spoken;
use crate::args::lab::WhatIfArgs;
use crate::config::Config;
use crate::error::{CliError, failed};
use crate::output::{print_json, print_line, spinner};
use crate::{access, config};

/// A shorter history says nothing about days.
const HISTORY_MIN: Duration = Duration::from_secs(86_400);
/// Replays learn for a quarter of the history, a week at most.
const TRAIN_MAX: Duration = Duration::from_secs(7 * 86_400);

pub fn run(args: &WhatIfArgs) -> Result<(), CliError> {
    let config = config::read_offline(&args.place)?;
    let own = history::read(&access::read(&config)?)?;
    let world = history::world(&own, WINDOW);
    let setting = setting(&own, &world, &config)?;
    let waiting = spinner("replaying");
    let answer = lab::what_if(&world, &config.engine.policy, &setting, args.budget);
    waiting.finish_and_clear();
    let (start, end) = (setting.phases.test_start(), setting.phases.end());
    if args.json {
        return print_json(&json!({
            "start": start.to_string(),
            "end": end.to_string(),
            "current": figures(&answer.current),
            "alternatives": answer.others.iter().map(figures).collect::<Vec<_>>(),
            "words": answer.sentences(),
        }));
    }
    let delay = answer.current.delay.map_or("–".to_owned(), spoken);
    print_line(&format!(
        "From {start} to {end}, replayed: `{}` made {} polls and saw entries after {delay}.\n",
        answer.current.name, answer.current.polls,
    ))?;
    answer.sentences().iter().try_for_each(|sentence| print_line(sentence))?;
    print_line(&format!("\n{}", history::blind_spots(&own)))
}

/// Returns the setting of the replays: from the first poll of the feeds to the last entry.
pub fn setting(own: &[OwnFeed], world: &World, config: &Config) -> Result<Setting, CliError> {
    let first = own.iter().filter_map(|own| own.first_look).min();
    let (Some(start), Some((_, end))) = (first, world.span()) else {
        return Err(failed("no entry was seen yet; let `tidings run` watch for a few days".into()));
    };
    let watched = end.since(start);
    if watched < HISTORY_MIN {
        let message = "the history is shorter than a day; let `tidings run` watch a while longer";
        return Err(failed(message.to_owned()));
    }
    let train = Duration::from_secs((watched / 4).min(TRAIN_MAX).as_secs());
    let test = Duration::from_secs((watched - train).as_secs());
    let hints =
        if config.engine.follow_hints { HintReading::LowerBound } else { HintReading::Ignore };
    let phases = Phases { start, train, test, warm_up: true };
    let (bounds, threads) = (config.engine.bounds, super::threads());
    Ok(Setting { bounds, hints, threads, trained: false, ..Setting::new(phases) })
}

/// Returns the figures as JSON. A row of a policy has `policy`; a row of a budget has `budget` and
/// `strategy`.
fn figures(tried: &Alternative) -> Value {
    let mut row = json!({
        "name": tried.name,
        "polls": tried.polls,
        "found": tried.found,
        "missed": tried.missed,
        "open": tried.open,
        "delay_seconds": tried.delay,
        "equal_cost": tried.equal_cost,
    });
    match tried.budget {
        None => row["policy"] = json!(tried.name),
        Some(PollAllowance { polls, per }) => {
            row["budget"] = json!(format!("{polls}/{}", polling::written(per)));
            row["strategy"] = json!(tried.name);
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_policies_and_of_budgets_carry_their_own_keys() {
        let tried = |name: &str, budget: Option<PollAllowance>, delay: Option<f64>| Alternative {
            name: name.to_owned(),
            budget,
            polls: 10,
            delay,
            found: 7,
            missed: 2,
            open: 1,
            equal_cost: true,
        };
        let allowance = PollAllowance { polls: 100, per: Duration::from_secs(3600) };
        let policy = tried("mavsync", None, Some(60.5));
        let budget = tried("two-steps", Some(allowance), None);
        let counts = json!({ "polls": 10, "found": 7, "missed": 2, "open": 1 });
        for (row, own, delay) in [
            (figures(&policy), json!({ "policy": "mavsync" }), json!(60.5)),
            (figures(&budget), json!({ "budget": "100/1h", "strategy": "two-steps" }), Value::Null),
        ] {
            for (key, value) in own.as_object().into_iter().chain(counts.as_object()).flatten() {
                assert_eq!(&row[key], value, "{key} of {row}");
            }
            assert_eq!(row.get("delay_seconds"), Some(&delay), "{row}");
            let kinds = ["policy", "strategy"].map(|key| row.get(key).is_some());
            assert_ne!(kinds[0], kinds[1], "{row}");
        }
    }
}
