//! Runs one strategy through one world: spends a budget of polls over all feeds, cycle by cycle.
//!
//! The lab drives strategies through [`Planner`], as the live engine does. An estimator gives them
//! their model of each feed. The first poll of a feed does not count, as in
//! [`run()`](crate::run()); the strategy decides all others.
//!
//! Strategies that choose in every cycle get an equal part of the budget in each; a fraction of a
//! poll carries over. `two-steps` and `only-tau` may exceed it, as published; they pay the excess
//! back in the next cycle unless [`BudgetOptions::pay_back`] is off. Strategies that allocate polls
//! ahead spend the budget of a whole period at any time within it, and not more. `tide` keeps its
//! own account, as it does live: periods of UTC, and at most three times the even share in a cycle.
//!
//! With `warm_up` the strategy also spends the budget during the training phase. Polls and entries
//! count from the start of the test phase.
//!
//! ```
//! use feed::Time;
//! use lab::budget::{BudgetOptions, BudgetSetting, PollAllowance, spend};
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
//!     phases, allowance, cycle: hour / 6, estimator: Estimator::Periodic,
//!     options: BudgetOptions::default(),
//! };
//! let spent = spend(&world, Strategy::Uniform.into(), &setting);
//! assert_eq!((spent.polls, spent.found, spent.missed), (48, 24, 0));
//! let careful: Spender = "tide:365d".parse().unwrap();
//! assert_eq!(spend(&world, careful, &setting).spender.to_string(), "tide:365d");
//! ```

mod allowance;
mod as_live;
mod belief;
mod ledger;
mod options;
mod oracle;

pub use allowance::PollAllowance;

use std::time::Duration;

use feed::Time;
use polling::budget::{Budget, Estimator, Planner, Spender, Strategy, Tracked};
use polling::relevance::Selectivity;

use crate::{LearnsFrom, Phases, PolledFeed, World};
pub use as_live::{LiveBudget, polls_as_live};
use belief::Belief;
use ledger::Ledger;
pub use ledger::StrategyRun;
pub use options::BudgetOptions;
use oracle::Oracle;

/// The setting that all strategies of a comparison share.
#[derive(Clone, Copy, Debug)]
pub struct BudgetSetting {
    pub phases: Phases,
    pub allowance: PollAllowance,
    /// The time between two plans.
    pub cycle: Duration,
    pub estimator: Estimator,
    pub options: BudgetOptions,
}

impl BudgetSetting {
    /// Only `tide` gets its budget here; other strategies get it with each plan.
    fn planner(&self, spender: Spender, cycle: Duration) -> Planner {
        let mut planner = Planner::new(spender.strategy, cycle);
        planner.set_miss(spender.miss);
        planner.set_profiles(spender.profiles);
        planner.set_floor(self.options.floor);
        planner.set_learning(self.options.learn);
        if spender.strategy == Strategy::Tide {
            let PollAllowance { polls, per } = self.allowance;
            let polls = u32::try_from(polls).unwrap_or(u32::MAX);
            planner.set_budget(Some(Budget { polls, per, bytes: None }));
        }
        planner
    }
}

/// Spends the budget with one strategy; `tide` also has a price of a miss. All entries count the
/// same for the strategy. If the world knows which entries are wanted, figures count only those.
pub fn spend(world: &World, spender: Spender, setting: &BudgetSetting) -> StrategyRun {
    spend_by(world, spender, setting, LearnsFrom::All)
}

/// As [`spend`]. With [`LearnsFrom::Wanted`] the strategy knows the share of each feed's entries
/// that was wanted so far, as it does live with queries.
pub fn spend_by(
    world: &World,
    spender: Spender,
    setting: &BudgetSetting,
    learns: LearnsFrom,
) -> StrategyRun {
    let phases = &setting.phases;
    let mut driver = StrategyDriver::new(spender, setting);
    let (members, ledger) = (Vec::new(), Ledger::default());
    let mut simulation = BudgetSimulation { world, setting, learns, members, ledger };
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

/// Spends the same budget with several strategies, each separately.
pub fn spend_all(
    world: &World,
    spenders: &[Spender],
    setting: &BudgetSetting,
    threads: usize,
) -> Vec<StrategyRun> {
    spend_all_by(world, spenders, setting, LearnsFrom::All, threads)
}

/// As [`spend_all`], with the choice of [`spend_by`].
pub fn spend_all_by(
    world: &World,
    spenders: &[Spender],
    setting: &BudgetSetting,
    learns: LearnsFrom,
    threads: usize,
) -> Vec<StrategyRun> {
    let one = |i: usize, _: &mut ()| spend_by(world, spenders[i], setting, learns);
    crate::parallel::map_each(spenders.len(), threads, one)
}

/// Returns the feeds that take part, by their first poll, the latest first.
fn newcomers(world: &World, phases: &Phases) -> Vec<(Time, usize)> {
    let first =
        |(i, feed): (usize, &crate::WorldFeed)| Some((phases.first_poll(feed.visible())?, i));
    let mut newcomers: Vec<(Time, usize)> =
        world.feeds.iter().enumerate().filter_map(first).collect();
    newcomers.sort_unstable_by(|a, b| b.cmp(a));
    newcomers
}

/// One feed of the run, with the number that the planner uses.
struct Member<'w> {
    feed: usize,
    polled: PolledFeed<'w>,
    last: Time,
    /// Polls and entries after this moment count.
    counts_from: Time,
    /// The share of its entries that was wanted so far.
    selectivity: Selectivity,
}

/// The simulated feeds and the results so far.
struct BudgetSimulation<'w> {
    world: &'w World,
    setting: &'w BudgetSetting,
    learns: LearnsFrom,
    members: Vec<Member<'w>>,
    ledger: Ledger,
}

/// A strategy with its budget.
struct StrategyDriver {
    decider: Decider,
    account: BudgetAccount,
}

enum Decider {
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
    fn new(spender: Spender, setting: &BudgetSetting) -> StrategyDriver {
        let oracle = Oracle::new(spender.strategy);
        let allowance = setting.allowance.over_cycles(setting.cycle);
        let (period, account) = if spender.strategy == Strategy::Tide {
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
            (Estimator::Oracle, Some(oracle)) => Decider::Oracle(oracle),
            _ => Decider::Planner(Box::new(setting.planner(spender, period))),
        };
        StrategyDriver { decider, account }
    }

    /// Returns the feeds to poll now.
    fn choose(&mut self, simulation: &BudgetSimulation<'_>, now: Time) -> Vec<usize> {
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

impl<'w> BudgetSimulation<'w> {
    /// Adds feeds whose first poll is due, and makes it.
    fn admit(&mut self, driver: &mut StrategyDriver, waiting: &mut Vec<(Time, usize)>, now: Time) {
        while let Some((first, feed)) = waiting.pop_if(|(first, _)| *first <= now) {
            let world_feed = &self.world.feeds[feed];
            let mut polled = PolledFeed::new(self.world, world_feed);
            let belief = Belief { world: self.world, setting: self.setting };
            let model = belief.form(world_feed, &mut polled);
            let counts_from = first.max(self.setting.phases.test_start());
            let selectivity = Selectivity::default();
            self.members.push(Member { feed, polled, last: first, counts_from, selectivity });
            if let Decider::Planner(planner) = &mut driver.decider {
                let weight = world_feed.weight;
                planner.track(Tracked { weight, ..Tracked::new(model) });
            }
            let member = self.members.len() - 1;
            self.look(driver, member, first);
        }
    }

    /// Makes a poll that the strategy chose. It counts once the test phase has begun.
    fn poll(&mut self, driver: &mut StrategyDriver, member: usize, now: Time) {
        self.look(driver, member, now);
        let Member { feed, polled, counts_from, .. } = &self.members[member];
        if now > self.setting.phases.test_start() {
            self.ledger.poll(&self.world.feeds[*feed], polled, *counts_from, now);
        }
    }

    fn look(&mut self, driver: &mut StrategyDriver, member: usize, now: Time) {
        let number = member;
        let member = &mut self.members[member];
        member.polled.poll(now);
        member.last = now;
        let Decider::Planner(planner) = &mut driver.decider else { return };
        let Some(mut seen) = member.polled.observation() else { return };
        if self.setting.options.true_counts {
            let visible = self.world.feeds[member.feed].visible();
            seen.new = &visible[member.polled.appeared()];
        }
        planner.observe(number, &seen);
        let world_feed = &self.world.feeds[member.feed];
        if let (LearnsFrom::Wanted, Some(relevance)) = (self.learns, world_feed.relevance()) {
            let (mut n_seen, mut n_kept) = (0, 0);
            for entry in member.polled.found() {
                n_seen += 1;
                n_kept += u32::from(relevance.is_wanted(entry));
            }
            member.selectivity.note(n_seen, n_kept);
            planner.revalue(number, world_feed.weight, member.selectivity.value());
        }
    }

    /// Returns the entries that appeared since the last poll of a feed.
    fn n_unseen(&self, member: &Member<'_>, now: Time) -> usize {
        let visible = self.world.feeds[member.feed].visible();
        let known = member.polled.shown().end;
        visible[known..].partition_point(|t| *t <= now)
    }

    /// Records the error of the models, before the polls of a cycle.
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

    /// Records the known share of the windows, after the polls of a cycle.
    fn note_freshness(&mut self, now: Time) {
        let share = |member: &Member<'_>| {
            let n_known = member.polled.shown().end;
            let n_appeared = n_known + self.n_unseen(member, now);
            let oldest = n_appeared.saturating_sub(member.polled.window_max() as usize);
            let relevance = self.world.feeds[member.feed].relevance();
            let n_wanted = |entries: std::ops::Range<usize>| match relevance {
                None => entries.len(),
                Some(relevance) => relevance.n_wanted(entries),
            };
            let shown = n_wanted(oldest..n_appeared);
            let n_unseen = n_wanted(oldest.max(n_known)..n_appeared);
            if shown == 0 { 1.0 } else { 1.0 - n_unseen as f64 / shown as f64 }
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
            let feed = &self.world.feeds[member.feed];
            let n_by = |at: Time| feed.visible().partition_point(|t| *t <= at);
            let n_wanted = |from: Time| match feed.relevance() {
                None => n_by(end) - n_by(from),
                Some(relevance) => relevance.n_wanted(n_by(from)..n_by(end)),
            };
            appeared += n_wanted(member.counts_from) as u64;
            open += n_wanted(member.last.max(member.counts_from)) as u64;
        }
        self.ledger.close(spender, appeared, open)
    }
}
