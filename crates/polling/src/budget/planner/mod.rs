//! One interface to every strategy: feeds are tracked, planned and observed, cycle by cycle.
//!
//! A planned feed is in flight until it is observed or held. The caller handles errors, pace and
//! hints and holds those feeds. `changes` covers changes of budget, strategy and weights,
//! `progress` the state that survives a restart, and `why` the explanations.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::ModelKind;
//! use std::time::Duration;
//!
//! let mut planner = Planner::new(Strategy::TwoSteps, Duration::from_secs(600));
//! let feed = planner.track(Tracked::new(ModelKind::Periodic.start()));
//! let now = Time::from_secs(1_700_000_000);
//! assert_eq!(planner.plan(now, 10), [feed], "a feed never polled is due at once");
//! let window = [now - Duration::from_secs(60)];
//! planner.observe(feed, &Observation::first(now, &window));
//! assert!(planner.plan(now, 10).is_empty());
//! ```

mod changes;
mod feed_schedule;
mod learning;
mod progress;
mod shared_profiles;
mod timetable;
mod why;
mod words;

use std::time::Duration;

use feed::{Observation, Time};

use self::learning::Learning;
use self::timetable::Timetable;
use crate::budget::allocation::DailyLimits;
use crate::budget::allowance::{Allowance, SpendingGrant};
use crate::budget::strategy::crossings::Crossings;
use crate::budget::strategy::top_k_expected::{Expected, top_k_expected};
use crate::budget::strategy::top_k_utility::top_k_utility;
use crate::budget::strategy::two_steps::{Threshold, only_sat, only_tau};
use crate::budget::strategy::uniform::RoundRobin;
use crate::budget::tide::{CycleBudget, TideStrategy};
use crate::budget::{Budget, FeedUrgency, ProfileChoice, Strategy, Tracked};

pub use why::{PlanCase, PlanWhy};
pub(crate) use words::plan_sentences;

/// The start value of τ, which adapts from any value: one entry waiting an hour.
const TAU_START: f64 = 3600.0;
const DAY_SECS: f64 = 86_400.0;
/// The feed may be offered at any time.
const ANY_TIME: Time = Time::from_millis(i64::MIN);

/// A strategy with its feeds.
#[derive(Clone, Debug)]
pub struct Planner {
    pub(in crate::budget) strategy: Strategy,
    pub(in crate::budget) cycle: Duration,
    pub(in crate::budget) budget: Option<Budget>,
    pub(in crate::budget) allowance: Allowance,
    pub(in crate::budget) feeds: Vec<Tracked>,
    /// The time from which each feed may be offered; `None` while it is in flight or dropped.
    pub(in crate::budget) offered_from: Vec<Option<Time>>,
    pub(in crate::budget) tau: Threshold,
    pub(in crate::budget) turn: RoundRobin,
    pub(in crate::budget) crossings: Crossings,
    pub(in crate::budget) timetable: Option<Timetable>,
    pub(in crate::budget) tide: TideStrategy,
    /// Whether allocating strategies poll every feed at least once in 28 days.
    pub(in crate::budget) floor: bool,
    pub(in crate::budget) learning: Learning,
    /// The profiles by which `min-delay` schedules feeds.
    pub(in crate::budget) profiles: ProfileChoice,
}

impl Planner {
    /// Creates a planner. `cycle` is the time between two plans.
    pub fn new(strategy: Strategy, cycle: Duration) -> Planner {
        Planner {
            strategy,
            cycle: cycle.max(Duration::from_secs(1)),
            budget: None,
            allowance: Allowance::default(),
            feeds: Vec::new(),
            offered_from: Vec::new(),
            tau: Threshold::new(TAU_START),
            turn: RoundRobin::default(),
            crossings: Crossings::default(),
            timetable: None,
            tide: TideStrategy::default(),
            floor: true,
            learning: Learning::default(),
            profiles: ProfileChoice::Own,
        }
    }

    /// Adds a feed and returns its number, which is never reused.
    pub fn track(&mut self, feed: Tracked) -> usize {
        self.feeds.push(feed);
        self.offered_from.push(Some(ANY_TIME));
        let number = self.feeds.len() - 1;
        self.offer(number);
        number
    }

    pub fn feeds(&self) -> &[Tracked] {
        &self.feeds
    }

    /// Learns from one poll and offers the feed again.
    pub fn observe(&mut self, feed: usize, o: &Observation<'_>) {
        let Some(tracked) = self.feeds.get_mut(feed) else { return };
        tracked.learn(o);
        self.release(feed, ANY_TIME);
    }

    /// Holds a feed until `until`: it backs off, or its domain asked for time.
    pub fn hold(&mut self, feed: usize, until: Time) {
        if feed < self.feeds.len() {
            self.release(feed, until);
        }
    }

    /// Returns the feeds to poll now with `budget` polls for the cycle; two-steps may exceed it.
    pub fn plan(&mut self, now: Time, budget: usize) -> Vec<usize> {
        let per_day = budget as f64 * DAY_SECS / self.cycle.as_secs_f64();
        let (polls, expiring, left, ends_in) = (budget, budget, budget, self.cycle);
        let granted =
            SpendingGrant { polls, expiring, bytes: None, left, bytes_left: None, ends_in };
        self.choose(now, granted, DailyLimits { polls: per_day, bytes: None }, self.cycle)
    }

    /// Returns the polls that `granted` and the daily `limits` afford in a budget's `period`.
    pub(in crate::budget) fn choose(
        &mut self,
        now: Time,
        granted: SpendingGrant,
        limits: DailyLimits,
        period: Duration,
    ) -> Vec<usize> {
        let n = granted.polls;
        let chosen = match self.strategy {
            Strategy::Tide => {
                let budget = CycleBudget::new(granted, limits, period, self.cycle);
                self.tide.plan(now, &budget, &self.feeds)
            }
            Strategy::TwoSteps => self.crossings.plan(now, n, &mut self.tau, &self.feeds),
            Strategy::Uniform => self.in_turn(now, n),
            Strategy::OnlySat => only_sat(&self.urgencies(now), n),
            Strategy::TopKUtility => top_k_utility(&self.urgencies(now), n),
            Strategy::TopKExpected => top_k_expected(&self.expected(now), n),
            Strategy::OnlyTau => only_tau(&self.urgencies(now), n, &mut self.tau),
            _ => self.by_timetable(now, n, limits),
        };
        for feed in &chosen {
            self.offered_from[*feed] = None;
        }
        chosen
    }

    pub(in crate::budget) fn may_offer(&self, feed: usize, now: Time) -> bool {
        self.offered_from[feed].is_some_and(|from| from <= now)
    }

    /// Returns the urgency of each feed; below zero if it may not be offered.
    fn urgencies(&self, now: Time) -> Vec<FeedUrgency> {
        let nothing = FeedUrgency { divergence: 0.0, saturated: false, utility: f64::NEG_INFINITY };
        let of = |feed: usize| match self.may_offer(feed, now) && self.feeds[feed].value() > 0.0 {
            true => self.feeds[feed].urgency(now),
            false => nothing,
        };
        (0..self.feeds.len()).map(of).collect()
    }

    /// Returns the entries expected of each feed; below zero if it may not be offered. A feed that
    /// was never polled comes first.
    fn expected(&self, now: Time) -> Vec<Expected> {
        let of = |(i, feed): (usize, &Tracked)| {
            let entries = match feed.last {
                _ if !self.may_offer(i, now) || feed.value() <= 0.0 => -1.0,
                None => f64::INFINITY,
                Some(last) => feed.believed().expect(last, now),
            };
            Expected { entries, readers: feed.weight }
        };
        self.feeds.iter().enumerate().map(of).collect()
    }

    /// A feed that may not be polled is skipped.
    fn in_turn(&mut self, now: Time, n: usize) -> Vec<usize> {
        let mut chosen = Vec::new();
        for _ in 0..self.feeds.len() {
            if chosen.len() == n {
                break;
            }
            let feed = self.turn.next(self.feeds.len());
            if self.may_offer(feed, now) && self.feeds[feed].value() > 0.0 {
                chosen.push(feed);
            }
        }
        chosen
    }

    fn by_timetable(&mut self, now: Time, n: usize, limits: DailyLimits) -> Vec<usize> {
        let table = self.timetable.get_or_insert_with(|| Timetable::new(limits));
        // Without a budget plans may be closer together than `cycle`.
        table.set_cycle(self.budget.map(|_| self.cycle));
        table.set_floor(self.floor);
        table.set_profiles(self.profiles);
        if !table.is_fresh(now, limits) {
            table.allocate(self.strategy, &self.feeds, &self.offered_from, now, limits);
        }
        table.take(now, n)
    }

    pub(in crate::budget) fn release(&mut self, feed: usize, from: Time) {
        self.learning.end(feed);
        self.offered_from[feed] = Some(from);
        self.offer(feed);
    }

    /// Queues a feed for its strategy.
    pub(in crate::budget) fn offer(&mut self, feed: usize) {
        let Some(from) = self.offered_from[feed] else { return };
        if self.strategy == Strategy::Tide {
            self.tide.offer(feed as u32, &self.feeds[feed], from);
        } else if self.strategy == Strategy::TwoSteps {
            let bar = self.tau.tau();
            self.crossings.insert(feed as u32, &self.feeds[feed], bar, from);
        } else if let Some(table) = &mut self.timetable {
            table.offer(feed, &self.feeds[feed], from);
        }
    }
}
