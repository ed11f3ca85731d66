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
//! With a price per poll ([`BudgetOptions::price`]) every strategy does, and the budget counts
//! units.
//!
//! With `warm_up` the strategy also spends the budget during the training phase. Polls and entries
//! count from the start of the test phase.
//!
//! ```
//! use feed::{Outcome, Time};
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
mod driver;
mod ledger;
mod options;
mod oracle;

pub use allowance::{PollAllowance, PricedAllowance};

use std::time::Duration;

use feed::{Outcome, Time};
use polling::budget::{Estimator, PollCost, Spender, Tracked};
use polling::relevance::Selectivity;

use crate::run::HEADER_BYTES;
use crate::{LearnsFrom, Phases, PolledFeed, World};
pub use as_live::{LiveBudget, polls_as_live};
use belief::Belief;
use driver::{Decider, StrategyDriver};
use ledger::Ledger;
pub use ledger::StrategyRun;
pub use options::BudgetOptions;

const DAY_SECS: u64 = 86_400;

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
        simulation.learn_again(&mut driver, now);
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
                let (weight, fresh) = (self.weight(feed), Tracked::new(model));
                let price = self.setting.options.price;
                let cost = price.map_or(fresh.cost, |p| p.parts(PollCost::UNKNOWN) as f64);
                planner.track(Tracked { weight, cost, ..fresh });
            }
            let member = self.members.len() - 1;
            self.look(driver, member, first);
        }
    }

    /// Learns the models again if a day of the test phase begins and the setting says so.
    fn learn_again(&self, driver: &mut StrategyDriver, now: Time) {
        let BudgetSetting { phases, estimator, options, cycle, .. } = self.setting;
        let is_moving = options.moving && *estimator == Estimator::Offline && !phases.warm_up;
        let today = |at: Time| at.since(phases.test_start()).as_secs() / DAY_SECS;
        if !is_moving || now <= phases.test_start() || today(now) == today(now - *cycle) {
            return;
        }
        let belief = Belief { world: self.world, setting: self.setting };
        if let Decider::Planner(planner) = &mut driver.decider {
            for (number, member) in self.members.iter().enumerate() {
                planner.believe(number, belief.moved(&self.world.feeds[member.feed], now));
            }
        }
    }

    /// Makes a poll that the strategy chose. It counts once the test phase has begun.
    fn poll(&mut self, driver: &mut StrategyDriver, member: usize, now: Time) {
        self.look(driver, member, now);
        let Member { feed, polled, counts_from, .. } = &self.members[member];
        let parts = self.setting.options.price.map(|price| price.parts(cost(polled)));
        if let (Some(parts), Decider::Planner(planner)) = (parts, &mut driver.decider) {
            planner.note_bytes(member, parts);
        }
        if now > self.setting.phases.test_start() {
            self.ledger.poll(&self.world.feeds[*feed], polled, *counts_from, now);
            self.ledger.pay(parts);
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
            let (feed, selectivity) = (member.feed, member.selectivity.value());
            planner.revalue(number, weight_of(self.world, self.setting, feed), selectivity);
        }
    }

    fn weight(&self, feed: usize) -> f64 {
        weight_of(self.world, self.setting, feed)
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

/// Returns the weight of a feed, as the strategy knows it.
fn weight_of(world: &World, setting: &BudgetSetting, feed: usize) -> f64 {
    if setting.options.equal_weights { 1.0 } else { world.feeds[feed].weight }
}

/// Returns what the last poll of a feed cost. A trace does not tell the time of parsing, so it
/// follows from the size.
fn cost(polled: &PolledFeed<'_>) -> PollCost {
    let size = polled.document_bytes().map_or(PollCost::UNKNOWN.bytes, u64::from);
    match polled.observation().map(|seen| seen.outcome) {
        Some(Outcome::Unchanged) => {
            PollCost { bytes: HEADER_BYTES, parse: Duration::ZERO, ..PollCost::UNKNOWN }
        }
        _ => PollCost::of_size(size),
    }
}
