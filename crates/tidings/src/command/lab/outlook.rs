//! Runs `lab what-if` for the page: other policies on the own history, and one strategy with
//! growing budgets. So a person can compare polls with delay.

use std::time::Duration;

use api::what_if::{ReplayResult, RuleResult};
use engine::BudgetRule;
use lab::budget::{BudgetOptions, BudgetSetting, PollAllowance, spend};
use lab::{Alternative, Setting, World};
use polling::budget::Estimator;
use store::Store;

use super::history;
use super::stats::WINDOW;
use super::what_if::setting;
use crate::config::Config;

/// The budgets to try, as multiples of the present polls.
const FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
const DAY: Duration = Duration::from_secs(86_400);
/// Live plans are made more often. A replay of weeks does not need that precision.
const CYCLE: Duration = Duration::from_secs(600);

/// Replays the history. Reports finished and total steps to `report`.
pub fn outlook(
    store: &Store,
    config: &Config,
    report: &dyn Fn(usize, usize),
) -> Result<ReplayResult, String> {
    let n_steps = FACTORS.len() + 1;
    report(0, n_steps);
    let own = history::read(store).map_err(|e| e.to_string())?;
    let world = history::world(&own, WINDOW);
    let setting = setting(&own, &world, config).map_err(|e| e.to_string())?;
    let answer = lab::what_if(&world, &config.engine.policy, &setting, None);
    let days = setting.phases.test.as_secs_f64() / DAY.as_secs_f64();
    let now = answer.current.polls as f64 / days;
    let mut steps = Vec::new();
    for (done, factor) in FACTORS.into_iter().enumerate() {
        report(done + 1, n_steps);
        steps.push(step(&world, &setting, now * factor, days, factor == 1.0));
    }
    report(n_steps, n_steps);
    let current = rule(&answer.current, days, true);
    let others = answer.others.iter().map(|other| rule(other, days, false));
    Ok(ReplayResult {
        made_at: String::new(),
        from: setting.phases.test_start().to_string(),
        to: setting.phases.end().to_string(),
        rules: std::iter::once(current).chain(others).collect(),
        steps,
        words: answer.sentences(),
        blind_spots: history::blind_spots(&own),
    })
}

fn step(world: &World, setting: &Setting, per_day: f64, days: f64, current: bool) -> RuleResult {
    let polls = (per_day.round() as usize).max(1);
    let setting = BudgetSetting {
        phases: setting.phases,
        allowance: PollAllowance { polls, per: DAY },
        cycle: CYCLE,
        estimator: Estimator::Tide,
        options: BudgetOptions::default(),
    };
    let spent = spend(world, BudgetRule::STRATEGY.into(), &setting);
    RuleResult {
        name: spent.spender.to_string(),
        budget: format!("{polls}/1d"),
        polls_per_day: spent.polls as f64 / days,
        delay_secs: spent.delay,
        found: spent.found,
        missed: spent.missed,
        current,
    }
}

fn rule(alternative: &Alternative, days: f64, current: bool) -> RuleResult {
    RuleResult {
        name: alternative.name.clone(),
        budget: String::new(),
        polls_per_day: alternative.polls as f64 / days,
        delay_secs: alternative.delay,
        found: alternative.found,
        missed: alternative.missed,
        current,
    }
}
