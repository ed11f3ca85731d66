//! Drives one strategy: its planner or oracle, and the account of its budget.

use std::time::Duration;

use feed::Time;
use polling::budget::{Budget, Estimator, Planner, Spender, Strategy};

use super::oracle::Oracle;
use super::{BudgetSetting, BudgetSimulation, PollAllowance};

impl BudgetSetting {
    /// Only `tide` gets its budget here, and every strategy with a price per poll. Others get it
    /// with each plan.
    fn planner(&self, spender: Spender, cycle: Duration) -> Planner {
        let mut planner = Planner::new(spender.strategy, cycle);
        planner.set_miss(spender.miss);
        planner.set_profiles(spender.profiles);
        planner.set_floor(self.options.floor);
        planner.set_learning(self.options.learn);
        let PollAllowance { polls, per } = self.allowance;
        let polls = u32::try_from(polls).unwrap_or(u32::MAX);
        let budget = Budget { polls, per, bytes: None };
        match self.options.price {
            Some(price) => planner.set_budget(Some(price.limits(&budget))),
            None if spender.strategy == Strategy::Tide => planner.set_budget(Some(budget)),
            None => {}
        }
        planner
    }
}

/// A strategy with its budget.
pub(super) struct StrategyDriver {
    pub(super) decider: Decider,
    account: BudgetAccount,
}

pub(super) enum Decider {
    /// A planner with its models.
    Planner(Box<Planner>),
    /// An oracle that sees the feeds themselves.
    Oracle(Oracle),
}

/// The remaining budget.
enum BudgetAccount {
    /// An equal part per cycle. The saved rest is less than one poll, or a debt.
    Cycles { per_cycle: f64, saved: f64, pay_back: bool },
    /// The whole budget of a period at once.
    Periods { allowance: PollAllowance, left: usize, ends: Time },
    /// The planner keeps its own account.
    Live,
}

impl StrategyDriver {
    pub(super) fn new(spender: Spender, setting: &BudgetSetting) -> StrategyDriver {
        let oracle = Oracle::new(spender.strategy);
        let allowance = setting.allowance.over_cycles(setting.cycle);
        let (period, account) =
            if spender.strategy == Strategy::Tide || setting.options.price.is_some() {
                (setting.cycle, BudgetAccount::Live)
            } else if oracle.is_some() {
                let per_cycle = setting.allowance.per_cycle(setting.cycle);
                let pay_back = setting.options.pay_back;
                (setting.cycle, BudgetAccount::Cycles { per_cycle, saved: 0.0, pay_back })
            } else {
                let (left, ends) = (allowance.polls, setting.phases.run_start() + allowance.per);
                (allowance.per, BudgetAccount::Periods { allowance, left, ends })
            };
        let decider = match (setting.estimator, oracle) {
            (Estimator::Oracle, Some(oracle)) if setting.options.price.is_none() => {
                Decider::Oracle(oracle)
            }
            _ => Decider::Planner(Box::new(setting.planner(spender, period))),
        };
        StrategyDriver { decider, account }
    }

    /// Returns the feeds to poll now.
    pub(super) fn choose(&mut self, simulation: &BudgetSimulation<'_>, now: Time) -> Vec<usize> {
        match &mut self.account {
            BudgetAccount::Live => match &mut self.decider {
                Decider::Planner(planner) => planner.spend(now),
                Decider::Oracle(_) => Vec::new(),
            },
            BudgetAccount::Cycles { per_cycle, saved, pay_back } => {
                *saved += *per_cycle;
                let lessons = self.decider.learn(now, *per_cycle);
                *saved -= lessons.len() as f64;
                let budget = saved.max(0.0) as usize;
                let mut chosen = match &mut self.decider {
                    _ if budget == 0 => Vec::new(),
                    Decider::Oracle(oracle) => oracle.choose(simulation, now, budget),
                    Decider::Planner(planner) => planner.plan(now, budget),
                };
                *saved -= if *pay_back { chosen.len().max(budget) } else { budget } as f64;
                chosen.extend(lessons);
                chosen
            }
            BudgetAccount::Periods { allowance, left, ends } => {
                while now > *ends {
                    (*left, *ends) = (allowance.polls, *ends + allowance.per);
                }
                let cycles = allowance.per.as_secs_f64() / simulation.setting.cycle.as_secs_f64();
                let mut lessons = self.decider.learn(now, allowance.polls as f64 / cycles);
                let Decider::Planner(planner) = &mut self.decider else { return Vec::new() };
                for member in lessons.split_off(lessons.len().min(*left)) {
                    planner.hold(member, now);
                }
                *left -= lessons.len();
                let refreshing = allowance.polls as f64 * (1.0 - planner.learning_share());
                let mut chosen = planner.plan(now, refreshing.round() as usize);
                // The planner allocates from the whole allowance. Polls beyond the rest wait for
                // the next cycle.
                for member in chosen.split_off(chosen.len().min(*left)) {
                    planner.hold(member, now);
                }
                *left -= chosen.len();
                chosen.extend(lessons);
                chosen
            }
        }
    }
}

impl Decider {
    /// Returns the learning polls of a cycle in which the budget earned `earned` polls.
    fn learn(&mut self, now: Time, earned: f64) -> Vec<usize> {
        match self {
            Decider::Planner(planner) => planner.learn(now, earned),
            Decider::Oracle(_) => Vec::new(),
        }
    }
}
