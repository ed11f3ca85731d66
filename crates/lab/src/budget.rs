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
//! use lab::budget::{Allowance, BudgetSetting, spend};
//! use lab::{Phases, World, WorldFeed};
//! use polling::budget::{Estimator, Spender, Strategy};
//! use std::time::Duration;
//!
//! let (hour, start) = (Duration::from_secs(3600), Time::from_secs(0));
//! let feeds = vec![WorldFeed::new("hourly", (1..96).map(|h| start + hour * h).collect())];
//! let world = World { feeds, window: 20, domains: vec![vec![0]] };
//! let phases = Phases::over(&world, Some(start), 48 * hour, 24 * hour, false).unwrap();
//! let allowance = Allowance { polls: 2, per: hour };
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

use crate::{Phases, Sight, World};
pub use as_live::{LiveBudget, polls_as_live};
use belief::Belief;
use ledger::Ledger;
pub use ledger::Spent;
use oracle::Oracle;

/// So many polls per so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub polls: usize,
    pub per: Duration,
}

impl Allowance {
    fn per_cycle(&self, cycle: Duration) -> f64 {
        self.polls as f64 * cycle.as_secs_f64() / self.per.as_secs_f64()
    }

    /// The same allowance for a period that is no shorter than a cycle.
    fn over_cycles(self, cycle: Duration) -> Allowance {
        if self.per >= cycle {
            return self;
        }
        Allowance { polls: self.per_cycle(cycle).round() as usize, per: cycle }
    }
}

/// What holds for all strategies of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct BudgetSetting {
    pub phases: Phases,
    pub allowance: Allowance,
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
            let Allowance { polls, per } = self.allowance;
            let polls = u32::try_from(polls).unwrap_or(u32::MAX);
            planner.set_budget(Some(Budget { polls, per, bytes: None }));
        }
        planner
    }
}

/// Lets one strategy spend the budget, `tide` with its price of a miss.
pub fn spend(world: &World, spender: Spender, setting: &BudgetSetting) -> Spent {
    let phases = &setting.phases;
    let mut chooser = Chooser::new(spender, setting);
    let mut house = House { world, setting, members: Vec::new(), ledger: Ledger::default() };
    let mut waiting = newcomers(world, phases);
    house.admit(&mut chooser, &mut waiting, phases.run_start());
    let mut now = phases.run_start() + setting.cycle;
    while now <= phases.end() {
        let counts = now > phases.test_start();
        house.admit(&mut chooser, &mut waiting, now);
        if counts {
            house.note_divergence(&chooser, now);
        }
        for member in chooser.choose(&house, now) {
            house.poll(&mut chooser, member, now);
        }
        if counts {
            house.note_freshness(now);
        }
        now = now + setting.cycle;
    }
    // The last cycle may end before the run does.
    house.admit(&mut chooser, &mut waiting, phases.end());
    house.close(spender)
}

/// Lets several strategies spend the same budget, each for itself.
pub fn spend_all(
    world: &World,
    spenders: &[Spender],
    setting: &BudgetSetting,
    threads: usize,
) -> Vec<Spent> {
    let one = |i: usize, _: &mut ()| spend(world, spenders[i], setting);
    crate::crew::share_singly(spenders.len(), threads, one)
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
    sight: Sight<'w>,
    last: Time,
    /// Polls and entries after this moment count.
    counts_from: Time,
}

/// The feeds as they are.
struct House<'w> {
    world: &'w World,
    setting: &'w BudgetSetting,
    members: Vec<Member<'w>>,
    ledger: Ledger,
}

/// Who chooses, with what it may spend.
struct Chooser {
    by: By,
    purse: Purse,
}

enum By {
    /// A planner, and what it believes.
    Planner(Box<Planner>),
    /// Somebody who sees the members themselves.
    Oracle(Oracle),
}

/// What is left of the budget.
enum Purse {
    /// An equal part for every cycle; what is saved of it is less than a poll, or a debt.
    Cycles { per_cycle: f64, saved: f64 },
    /// All of a period at once.
    Periods { allowance: Allowance, left: usize, ends: Time },
    /// The planner keeps its own.
    Live,
}

impl Chooser {
    fn new(spender: Spender, setting: &BudgetSetting) -> Chooser {
        let oracle = Oracle::new(spender.strategy);
        let allowance = setting.allowance.over_cycles(setting.cycle);
        let (period, purse) = if spender.strategy == Strategy::Tide {
            (setting.cycle, Purse::Live)
        } else if oracle.is_some() {
            let per_cycle = setting.allowance.per_cycle(setting.cycle);
            (setting.cycle, Purse::Cycles { per_cycle, saved: 0.0 })
        } else {
            let (left, ends) = (allowance.polls, setting.phases.run_start() + allowance.per);
            (allowance.per, Purse::Periods { allowance, left, ends })
        };
        let by = match (setting.estimator, oracle) {
            (Estimator::Oracle, Some(oracle)) => By::Oracle(oracle),
            _ => By::Planner(Box::new(setting.planner(spender, period))),
        };
        Chooser { by, purse }
    }

    /// The members to poll now.
    fn choose(&mut self, house: &House<'_>, now: Time) -> Vec<usize> {
        match &mut self.purse {
            Purse::Live => match &mut self.by {
                By::Planner(planner) => planner.spend(now),
                By::Oracle(_) => Vec::new(),
            },
            Purse::Cycles { per_cycle, saved } => {
                *saved += *per_cycle;
                let budget = saved.max(0.0) as usize;
                let chosen = match &mut self.by {
                    _ if budget == 0 => Vec::new(),
                    By::Oracle(oracle) => oracle.choose(house, now, budget),
                    By::Planner(planner) => planner.plan(now, budget),
                };
                *saved -= chosen.len().max(budget) as f64;
                chosen
            }
            Purse::Periods { allowance, left, ends } => {
                while now > *ends {
                    (*left, *ends) = (allowance.polls, *ends + allowance.per);
                }
                let By::Planner(planner) = &mut self.by else { return Vec::new() };
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

impl<'w> House<'w> {
    /// Lets feeds in whose first poll has come, and makes it.
    fn admit(&mut self, chooser: &mut Chooser, waiting: &mut Vec<(Time, usize)>, now: Time) {
        while let Some((first, feed)) = waiting.pop_if(|(first, _)| *first <= now) {
            let world_feed = &self.world.feeds[feed];
            let mut sight = Sight::new(self.world, world_feed);
            let belief = Belief { world: self.world, setting: self.setting };
            let model = belief.form(world_feed, &mut sight);
            let counts_from = first.max(self.setting.phases.test_start());
            self.members.push(Member { feed, sight, last: first, counts_from });
            if let By::Planner(planner) = &mut chooser.by {
                let weight = world_feed.weight;
                planner.track(Tracked { weight, ..Tracked::new(model) });
            }
            let member = self.members.len() - 1;
            self.look(chooser, member, first);
        }
    }

    /// One poll that the strategy chose; it counts once the test phase has begun.
    fn poll(&mut self, chooser: &mut Chooser, member: usize, now: Time) {
        self.look(chooser, member, now);
        let Member { feed, sight, counts_from, .. } = &self.members[member];
        if now > self.setting.phases.test_start() {
            self.ledger.poll(&self.world.feeds[*feed], sight, *counts_from, now);
        }
    }

    fn look(&mut self, chooser: &mut Chooser, member: usize, now: Time) {
        let number = member;
        let member = &mut self.members[member];
        member.sight.poll(now);
        member.last = now;
        let By::Planner(planner) = &mut chooser.by else { return };
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
    fn note_divergence(&mut self, chooser: &Chooser, now: Time) {
        let error = |(i, member): (usize, &Member<'_>)| {
            let real = self.n_unseen(member, now) as f64;
            let believed = match &chooser.by {
                By::Oracle(_) => real,
                By::Planner(planner) => planner.feeds()[i].model.expect(member.last, now),
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

    fn close(self, spender: Spender) -> Spent {
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
