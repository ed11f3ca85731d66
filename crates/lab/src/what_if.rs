//! Compares other policies and strategies on the history of an instance, in words.
//!
//! The current policy runs first. Policies with a free parameter are then calibrated to the same
//! number of polls, so that delays are comparable. The best of them also runs with half and twice
//! as many polls, to show the price of a shorter delay. Entries that the history missed are missing
//! here too.

use polling::PolicySpec;
use polling::budget::{Estimator, Spender, Strategy};

use crate::budget::{BudgetOptions, BudgetSetting, PollAllowance, spend_all};
use crate::run::calibration::{Goal, PolicyTemplate, calibrate};
use crate::{Phases, PolicyRun, RunProgress, Setting, World, run};

/// The result of one policy or strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The specification of a policy, or the name of a strategy.
    pub name: String,
    /// The budget of a strategy; `None` for a policy.
    pub budget: Option<PollAllowance>,
    pub polls: u64,
    /// The mean delay of entries, in seconds.
    pub delay: Option<f64>,
    pub found: u64,
    pub missed: u64,
    /// Entries that appeared after the last poll of their feed.
    pub open: u64,
    /// Whether it makes as many polls as the current policy.
    pub equal_cost: bool,
}

/// The current policy, and the alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    pub current: Alternative,
    pub others: Vec<Alternative>,
}

/// Policies that run at equal cost.
const MATCHED: [&str; 5] = ["tide", "entry-frequency", "indhist:?", "adaptive-ttl:?", "fix:?"];
/// Policies that run as they are.
const PLAIN: [&str; 2] = ["mavsync", "fix-learned-a"];
/// Strategies that run under a budget.
const STRATEGIES: [Strategy; 4] =
    [Strategy::Uniform, Strategy::TwoSteps, Strategy::MinDelay, Strategy::LambdaCrawl];
/// The approximate interval of live plans.
const CYCLE: std::time::Duration = std::time::Duration::from_secs(600);

/// Replays the world under `current` and the alternatives; with a budget also under strategies.
pub fn what_if(
    world: &World,
    current: &PolicySpec,
    setting: &Setting,
    budget: Option<PollAllowance>,
) -> WhatIf {
    let progress = RunProgress::default();
    let now = run(world, current, setting, &progress);
    let mut others = Vec::new();
    let spending = |free: &PolicyTemplate, polls: u64| {
        let found = calibrate(world, free, Goal::Polls(polls.max(1)), setting, &progress).ok()?;
        found.reached.then_some(found.run)
    };
    let polls = now.total.polls;
    let mut best: Option<(PolicyTemplate, PolicyRun)> = None;
    for free in MATCHED.iter().filter_map(|text| PolicyTemplate::of(text)) {
        let Some(run) = spending(&free, polls) else { continue };
        others.push(alternative(&run, true));
        if best.as_ref().is_none_or(|(_, best)| delay(&run) < delay(best)) {
            best = Some((free, run));
        }
    }
    if let Some((free, _)) = best {
        let runs = [polls / 2, polls * 2].into_iter().filter_map(|polls| spending(&free, polls));
        others.extend(runs.map(|run| alternative(&run, false)));
    }
    let plain = PLAIN.iter().filter_map(|text| text.parse::<PolicySpec>().ok());
    for spec in plain.filter(|spec| spec.policy != current.policy) {
        others.push(alternative(&run(world, &spec, setting, &progress), false));
    }
    if let Some(allowance) = budget {
        others.extend(under(world, &setting.phases, allowance, setting.threads));
    }
    WhatIf { current: alternative(&now, true), others }
}

/// A policy that found nothing comes last.
fn delay(run: &PolicyRun) -> f64 {
    run.by_entry.delay.unwrap_or(f64::INFINITY)
}

fn alternative(run: &PolicyRun, equal_cost: bool) -> Alternative {
    Alternative {
        name: run.policy.clone(),
        budget: None,
        polls: run.total.polls,
        delay: run.by_entry.delay,
        found: run.total.found,
        missed: run.total.missed,
        open: run.total.open,
        equal_cost,
    }
}

fn under(
    world: &World,
    phases: &Phases,
    allowance: PollAllowance,
    threads: usize,
) -> Vec<Alternative> {
    let (phases, estimator) = (*phases, Estimator::Periodic);
    let setting = BudgetSetting {
        phases,
        allowance,
        cycle: CYCLE,
        estimator,
        options: BudgetOptions::default(),
    };
    let spent = spend_all(world, &STRATEGIES.map(Spender::from), &setting, threads);
    let each = spent.into_iter().map(|spent| Alternative {
        name: spent.spender.to_string(),
        budget: Some(allowance),
        polls: spent.polls,
        delay: spent.delay,
        found: spent.found,
        missed: spent.missed,
        open: spent.open,
        equal_cost: false,
    });
    each.collect()
}

impl WhatIf {
    /// Returns one sentence per alternative, the shortest delay first.
    pub fn sentences(&self) -> Vec<String> {
        let mut ranked: Vec<&Alternative> = self.others.iter().collect();
        let delay = |other: &Alternative| other.delay.unwrap_or(f64::INFINITY);
        ranked.sort_by(|a, b| delay(a).total_cmp(&delay(b)));
        ranked.into_iter().map(|other| self.sentence(other)).collect()
    }

    fn sentence(&self, other: &Alternative) -> String {
        let name = &other.name;
        let (Some(now), Some(then)) = (self.current.delay, other.delay) else {
            return format!("With `{name}` nothing can be said: too few entries were found.");
        };
        let cost = if other.equal_cost {
            "at the same polls".to_owned()
        } else {
            let (was, is) = (self.current.polls.max(1) as f64, other.polls as f64);
            match ((is / was - 1.0) * 100.0).round() {
                0.0 => "at as many polls".to_owned(),
                more if more > 0.0 => format!("for {more:.0} % more polls"),
                less => format!("for {:.0} % fewer polls", -less),
            }
        };
        let change = (now - then).abs().round();
        let spoken = polling::spoken(std::time::Duration::from_secs_f64(change));
        let seen = if change < 1.0 {
            "you would have seen entries as soon".to_owned()
        } else if then < now {
            format!("you would have seen entries {spoken} sooner")
        } else {
            format!("you would have seen entries {spoken} later")
        };
        let lost = match (other.missed, self.current.missed) {
            (more, less) if more > less => format!(", and missed {} more", more - less),
            (less, more) if less < more => format!(", and missed {} fewer", more - less),
            _ => String::new(),
        };
        format!("With `{name}` {cost} {seen}{lost}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alternative(name: &str, polls: u64, delay: f64, missed: u64, equal: bool) -> Alternative {
        let (name, delay, equal_cost) = (name.to_owned(), Some(delay), equal);
        Alternative { name, budget: None, polls, delay, found: 9, missed, open: 0, equal_cost }
    }

    #[test]
    fn differences_are_said_in_words() {
        let current = alternative("mavsync", 100, 3600.0, 2, true);
        let others = vec![
            alternative("fix:2h", 150, 4200.0, 2, false),
            alternative("indhist:0.7", 100, 1320.0, 3, true),
            alternative("two-steps", 60, 3600.2, 0, false),
        ];
        let said = WhatIf { current, others }.sentences();
        assert_eq!(
            said,
            [
                "With `indhist:0.7` at the same polls you would have seen entries 38 min sooner, \
             and missed 1 more.",
                "With `two-steps` for 40 % fewer polls you would have seen entries as soon, \
             and missed 2 fewer.",
                "With `fix:2h` for 50 % more polls you would have seen entries 10 min later.",
            ]
        );
    }
}
