//! One strategy through one world: a budget of polls, spent cycle by cycle over all feeds.
//!
//! Strategies are driven through [`Planner`], as they are live, and believe what an estimator tells
//! them. The first poll of every feed counts for nothing, as in [`run()`](crate::run()); from
//! then on the strategy alone decides. Strategies that choose anew in every cycle get an equal
//! part of the budget in each (a fraction of a poll is saved for the next); `two-steps` and
//! `only-tau` may exceed it, as published, adapt, and pay back in the next. Strategies that
//! allocate looks ahead spend the budget of a whole period when they think best, and not a poll
//! more; `tide` keeps its own books, as it does live: a period as UTC has it, no cycle above three
//! times its even share. With `warm_up` the strategy spends the same budget through the training
//! phase too; polls and entries count from the start of the test phase on.
//!
//! ```
//! use feed::Time;
//! use lab::budget::{PollAllowance, BudgetSetting, spend};
//! use lab::{Phases, World, WorldFeed};
//! use polling::budget::{Estimator, Spender, Strategy};
//! use std::time::Duration;
//!
//! let (hour, start) = (Duration::from_secs(3600), Time::from_secs(0));
//! let feeds = vec![WorldFeed::new("hourly", (1..96).map(|h| start + hour * h).collect())];
//! let world = World { feeds, window: 20, domains: vec![vec![0]] };
//! let phases = Phases::over(&world, Some(start), 48 * hour, 24 * hour, false).unwrap();
//! let allowance = PollAllowance { polls: 2, per: hour };
//! let setting = BudgetSetting {
//!     phases, allowance, cycle: hour / 6, estimator: Estimator::Periodic, true_counts: false,
//! };
//! let spent = spend(&world, Strategy::Uniform.into(), &setting);
//! assert_eq!((spent.polls, spent.found, spent.missed), (48, 24, 0));
//! let careful: Spender = "tide:365d".parse().unwrap();
//! assert_eq!(spend(&world, careful, &setting).spender.to_string(), "tide:365d");
//! ```

mod as_live;
mod belief;
mod ledger;
mod oracle;

use std::time::Duration;

use feed::Time;
use polling::budget::{Budget, Estimator, Planner, Spender, Strategy, Tracked};

use crate::{Phases, PolledFeed, World};
pub use as_live::{LiveBudget, polls_as_live};
use belief::Belief;
use ledger::Ledger;
pub use ledger::StrategyRun;
use oracle::Oracle;

/// So many polls per so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollAllowance {
    pub polls: usize,
    pub per: Duration,
}

impl PollAllowance {
    fn per_cycle(&self, cycle: Duration) -> f64 {
        self.polls as f64 * cycle.as_secs_f64() / self.per.as_secs_f64()
    }

    /// The same allowance for a period that is no shorter than a cycle.
    fn over_cycles(self, cycle: Duration) -> PollAllowance {
        if self.per >= cycle {
            return self;
        }
        PollAllowance { polls: self.per_cycle(cycle).round() as usize, per: cycle }
    }
}

/// What holds for all strategies of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct BudgetSetting {
    pub phases: Phases,
    pub allowance: PollAllowance,
    /// The time between two plans.
    pub cycle: Duration,
    pub estimator: Estimator,
    /// Tell estimators how many entries were published, also beyond the window, as the paper's
    /// figures 10 to 12 do. No aggregator can know that.
    pub true_counts: bool,
}

impl BudgetSetting {
    /// The others are told with each plan what they may spend.
    fn planner(&self, spender: Spender, cycle: Duration) -> Planner {
        let mut planner = Planner::new(spender.strategy, cycle);
        planner.set_miss(spender.miss);
        if spender.strategy == Strategy::Tide {
            let PollAllowance { polls, per } = self.allowance;
            let polls = u32::try_from(polls).unwrap_or(u32::MAX);
            planner.set_budget(Some(Budget { polls, per, bytes: None }));
        }
        planner
    }
}

/// Lets one strategy spend the budget, `tide` with its price of a miss.
pub fn spend(world: &World, spender: Spender, setting: &BudgetSetting) -> StrategyRun {
    let phases = &setting.phases;
    let mut driver = StrategyDriver::new(spender, setting);
    let mut simulation =
        BudgetSimulation { world, setting, members: Vec::new(), ledger: Ledger::default() };
    let mut waiting = newcomers(world, phases);
    simulation.admit(&mut driver, &mut waiting, phases.run_start());
    let mut now = phases.run_start() + setting.cycle;
    while now <= phases.end() {
        let counts = now > phases.test_start();
        simulation.admit(&mut driver, &mut waiting, now);
        if counts {
            simulation.note_divergence(&driver, now);
        }
        for member in driver.choose(&simulation, now) {
            simulation.poll(&mut driver, member, now);
        }
        if counts {
            simulation.note_freshness(now);
        }
        now = now + setting.cycle;
    }
    // The last cycle may end before the run does.
    simulation.admit(&mut driver, &mut waiting, phases.end());
    simulation.close(spender)
}

/// Lets several strategies spend the same budget, each for itself.
pub fn spend_all(
    world: &World,
    spenders: &[Spender],
    setting: &BudgetSetting,
    threads: usize,
) -> Vec<StrategyRun> {
    let one = |i: usize, _: &mut ()| spend(world, spenders[i], setting);
    crate::parallel::map_each(spenders.len(), threads, one)
}

/// The feeds that take part, by their first poll, the latest first.
fn newcomers(world: &World, phases: &Phases) -> Vec<(Time, usize)> {
    let first =
        |(i, feed): (usize, &crate::WorldFeed)| Some((phases.first_poll(feed.visible())?, i));
    let mut newcomers: Vec<(Time, usize)> =
        world.feeds.iter().enumerate().filter_map(first).collect();
    newcomers.sort_unstable_by(|a, b| b.cmp(a));
    newcomers
}

/// One feed of the run, numbered as the planner numbers it.
struct Member<'w> {
    feed: usize,
    sight: PolledFeed<'w>,
    last: Time,
    /// Polls and entries after this moment count.
    counts_from: Time,
}

/// The feeds as they are.
struct BudgetSimulation<'w> {
    world: &'w World,
    setting: &'w BudgetSetting,
    members: Vec<Member<'w>>,
    ledger: Ledger,
}

/// Who chooses, with what it may spend.
struct StrategyDriver {
    decider: Decider,
    account: BudgetAccount,
}

enum Decider {
    /// A planner, and what it believes.
    Planner(Box<Planner>),
    /// Somebody who sees the members themselves.
    Oracle(Oracle),
}

/// What is left of the budget.
enum BudgetAccount {
    /// An equal part for every cycle; what is saved of it is less than a poll, or a debt.
    Cycles { per_cycle: f64, saved: f64 },
    /// All of a period at once.
    Periods { allowance: PollAllowance, left: usize, ends: Time },
    /// The planner keeps its own.
    Live,
}

impl StrategyDriver {
    fn new(spender: Spender, setting: &BudgetSetting) -> StrategyDriver {
        let oracle = Oracle::new(spender.strategy);
        let allowance = setting.allowance.over_cycles(setting.cycle);
        let (period, account) = if spender.strategy == Strategy::Tide {
            (setting.cycle, BudgetAccount::Live)
        } else if oracle.is_some() {
            let per_cycle = setting.allowance.per_cycle(setting.cycle);
            (setting.cycle, BudgetAccount::Cycles { per_cycle, saved: 0.0 })
        } else {
            let (left, ends) = (allowance.polls, setting.phases.run_start() + allowance.per);
            (allowance.per, BudgetAccount::Periods { allowance, left, ends })
        };
        let decider = match (setting.estimator, oracle) {
            (Estimator::Oracle, Some(oracle)) => Decider::Oracle(oracle),
            _ => Decider::Planner(Box::new(setting.planner(spender, period))),
        };
        StrategyDriver { decider, account }
    }

    /// The members to poll now.
    fn choose(&mut self, simulation: &BudgetSimulation<'_>, now: Time) -> Vec<usize> {
        match &mut self.account {
            BudgetAccount::Live => match &mut self.decider {
                Decider::Planner(planner) => planner.spend(now),
                Decider::Oracle(_) => Vec::new(),
            },
            BudgetAccount::Cycles { per_cycle, saved } => {
                *saved += *per_cycle;
                let budget = saved.max(0.0) as usize;
                let chosen = match &mut self.decider {
                    _ if budget == 0 => Vec::new(),
                    Decider::Oracle(oracle) => oracle.choose(simulation, now, budget),
                    Decider::Planner(planner) => planner.plan(now, budget),
                };
                *saved -= chosen.len().max(budget) as f64;
                chosen
            }
            BudgetAccount::Periods { allowance, left, ends } => {
                while now > *ends {
                    (*left, *ends) = (allowance.polls, *ends + allowance.per);
                }
                let Decider::Planner(planner) = &mut self.decider else { return Vec::new() };
                let mut chosen = planner.plan(now, allowance.polls);
                // The planner hears the whole allowance, from which it allocates; what cannot be
                // paid waits for the next cycle.
                for member in chosen.split_off(chosen.len().min(*left)) {
                    planner.hold(member, now);
                }
                *left -= chosen.len();
                chosen
            }
        }
    }
}

impl<'w> BudgetSimulation<'w> {
    /// Lets feeds in whose first poll has come, and makes it.
    fn admit(&mut self, driver: &mut StrategyDriver, waiting: &mut Vec<(Time, usize)>, now: Time) {
        while let Some((first, feed)) = waiting.pop_if(|(first, _)| *first <= now) {
            let world_feed = &self.world.feeds[feed];
            let mut sight = PolledFeed::new(self.world, world_feed);
            let belief = Belief { world: self.world, setting: self.setting };
            let model = belief.form(world_feed, &mut sight);
            let counts_from = first.max(self.setting.phases.test_start());
            self.members.push(Member { feed, sight, last: first, counts_from });
            if let Decider::Planner(planner) = &mut driver.decider {
                let weight = world_feed.weight;
                planner.track(Tracked { weight, ..Tracked::new(model) });
            }
            let member = self.members.len() - 1;
            self.look(driver, member, first);
        }
    }

    /// One poll that the strategy chose; it counts once the test phase has begun.
    fn poll(&mut self, driver: &mut StrategyDriver, member: usize, now: Time) {
        self.look(driver, member, now);
        let Member { feed, sight, counts_from, .. } = &self.members[member];
        if now > self.setting.phases.test_start() {
            self.ledger.poll(&self.world.feeds[*feed], sight, *counts_from, now);
        }
    }

    fn look(&mut self, driver: &mut StrategyDriver, member: usize, now: Time) {
        let number = member;
        let member = &mut self.members[member];
        member.sight.poll(now);
        member.last = now;
        let Decider::Planner(planner) = &mut driver.decider else { return };
        let Some(mut seen) = member.sight.observation() else { return };
        if self.setting.true_counts {
            let visible = self.world.feeds[member.feed].visible();
            seen.new = &visible[member.sight.appeared()];
        }
        planner.observe(number, &seen);
    }

    /// Entries that have appeared since a member was last looked at.
    fn n_unseen(&self, member: &Member<'_>, now: Time) -> usize {
        let visible = self.world.feeds[member.feed].visible();
        let known = member.sight.shown().end;
        visible[known..].partition_point(|t| *t <= now)
    }

    /// How far beliefs are from the truth, before anything is read.
    fn note_divergence(&mut self, driver: &StrategyDriver, now: Time) {
        let error = |(i, member): (usize, &Member<'_>)| {
            let real = self.n_unseen(member, now) as f64;
            let believed = match &driver.decider {
                Decider::Oracle(_) => real,
                Decider::Planner(planner) => planner.feeds()[i].model.expect(member.last, now),
            };
            (real - believed) * (real - believed)
        };
        let squares: f64 = self.members.iter().enumerate().map(error).sum();
        let n = self.members.len();
        self.ledger.divergence(squares, n);
    }

    /// How much of what the windows show is known, after everything was read.
    fn note_freshness(&mut self, now: Time) {
        let share = |member: &Member<'_>| {
            let n_unseen = self.n_unseen(member, now);
            let n_appeared = member.sight.shown().end + n_unseen;
            let shown = n_appeared.min(member.sight.window_max() as usize);
            if shown == 0 { 1.0 } else { 1.0 - n_unseen.min(shown) as f64 / shown as f64 }
        };
        let sum: f64 = self.members.iter().map(share).sum();
        let n = self.members.len();
        self.ledger.freshness(sum, n);
    }

    fn close(self, spender: Spender) -> StrategyRun {
        let end = self.setting.phases.end();
        let mut appeared = 0;
        let mut open = 0;
        for member in &self.members {
            let visible = self.world.feeds[member.feed].visible();
            let n_by = |at: Time| visible.partition_point(|t| *t <= at) as u64;
            appeared += n_by(end) - n_by(member.counts_from);
            open += n_by(end) - n_by(member.last.max(member.counts_from));
        }
        self.ledger.close(spender, appeared, open)
    }
}
