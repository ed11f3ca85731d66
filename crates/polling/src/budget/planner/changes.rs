//! Changes while a planner runs: the budget, the strategy, the cycle, the weights of feeds. Learned
//! state stays.
//!
//! The polls of a [`Budget`] are a hard limit. Polls that a strategy chooses beyond it are returned
//! (two-steps and only-tau have no limit of their own), and so are polls that exceed the bytes. One
//! document may overdraw the bytes; the next cycles pay for it.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::ModelKind;
//! use std::time::Duration;
//!
//! let mut planner = Planner::new(Strategy::TwoSteps, Duration::from_secs(600));
//! (0..9).for_each(|_| { planner.track(Tracked::new(ModelKind::Periodic.start())); });
//! planner.set_budget(Some("12/1h".parse().unwrap()));
//! assert_eq!(planner.spend(Time::from_secs(0)), [0, 1]);
//! planner.set_strategy(Strategy::MinDelay);
//! planner.set_budget(Some("24/1h".parse().unwrap()));
//! assert_eq!(planner.spend(Time::from_secs(600)), [2, 3, 4, 5]);
//! ```

use std::time::Duration;

use feed::Time;

use crate::budget::allocation::DailyLimits;
use crate::budget::allowance::{self, Saving};
use crate::budget::strategy::crossings::Crossings;
use crate::budget::strategy::two_steps::Threshold;
use crate::budget::{Budget, Miss, Planner, ProfileChoice, Strategy, Tracked};
use crate::model::Model;

/// The share of the newest document in the expected size of the next.
const SIZE_WEIGHT: f64 = 0.2;

impl Planner {
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    pub fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// Sets the budget. `None` plans nothing: every feed then follows its own policy.
    pub fn set_budget(&mut self, budget: Option<Budget>) {
        self.budget = budget;
    }

    /// Sets another strategy for the same feeds. Models, holds and τ stay.
    pub fn set_strategy(&mut self, strategy: Strategy) {
        if self.strategy != strategy {
            self.strategy = strategy;
            (self.crossings, self.timetable) = (Crossings::default(), None);
            self.tide.clear();
            (0..self.feeds.len()).for_each(|feed| self.offer(feed));
        }
    }

    pub fn set_cycle(&mut self, cycle: Duration) {
        self.cycle = cycle.max(Duration::from_secs(1));
    }

    /// Sets the daily profiles by which `min-delay` schedules feeds.
    pub fn set_profiles(&mut self, choice: ProfileChoice) {
        self.profiles = choice;
    }

    /// Sets whether the allocating strategies poll every feed at least once in 28 days. They do so
    /// by default; the papers do not.
    pub fn set_floor(&mut self, floor: bool) {
        self.floor = floor;
    }

    pub fn threshold(&self) -> f64 {
        self.tau.tau()
    }

    /// Sets the cost of a lost entry for `tide`.
    pub fn set_miss(&mut self, miss: Miss) {
        self.tide.set_miss(miss);
        (0..self.feeds.len()).for_each(|feed| self.offer(feed));
    }

    /// Restarts τ at another value.
    pub fn set_threshold(&mut self, tau: f64) {
        self.tau = Threshold::new(tau);
        (0..self.feeds.len()).for_each(|feed| self.offer(feed));
    }

    /// Assigns the feed to a domain that allows one request every `gap`. `tide` plans no more polls
    /// of it than that.
    pub fn set_pace(&mut self, feed: usize, domain: u32, gap: Duration) {
        self.tide.pace(feed as u32, domain, gap);
    }

    /// Sets another weight and selectivity, for example after a subscription.
    pub fn revalue(&mut self, feed: usize, weight: f64, selectivity: f64) {
        let Some(tracked) = self.feeds.get_mut(feed) else { return };
        (tracked.weight, tracked.selectivity) = (weight, selectivity);
        if let Some(table) = &mut self.timetable {
            table.revalue(feed, tracked.value());
        }
        self.offer(feed);
    }

    /// Replaces what was learned about a feed, except its expected size, and offers it from `from`
    /// on.
    pub fn renew(&mut self, feed: usize, renewed: Tracked, from: Time) {
        let Some(tracked) = self.feeds.get_mut(feed) else { return };
        let value = tracked.value();
        *tracked = Tracked { cost: tracked.cost, ..renewed };
        if tracked.value() != value
            && let Some(table) = &mut self.timetable
        {
            table.revalue(feed, tracked.value());
        }
        self.release(feed, from);
    }

    /// Replaces the model of a feed by one that was learned elsewhere. Polls that are planned
    /// already stay; strategies that allocate polls follow with their next allocation.
    pub fn believe(&mut self, feed: usize, model: Model) {
        let Some(tracked) = self.feeds.get_mut(feed) else { return };
        tracked.model = model;
        self.offer(feed);
    }

    /// Drops a feed for good. Its number is not reused, so that a poll in flight is harmless.
    pub fn drop_feed(&mut self, feed: usize) {
        if feed < self.feeds.len() {
            self.revalue(feed, 0.0, 0.0);
            self.offered_from[feed] = None;
            self.crossings.remove(feed as u32);
            self.tide.leave(feed as u32);
            // Free the memory; only the number must last.
            self.feeds[feed].model = Model::homogeneous();
        }
    }

    /// Returns the polls that the budget affords at `now`; none without a budget.
    pub fn spend(&mut self, now: Time) -> Vec<usize> {
        let Some(budget) = self.budget else { return Vec::new() };
        let saving = Saving::of(self.strategy);
        let budget = match saving {
            Saving::WithinPeriod => allowance::merged_periods(&budget, self.cycle),
            Saving::TwoCycles => budget,
        };
        let lessons = self.lessons(now, &budget);
        let granted = self.allowance.grant(now, &budget, self.cycle, saving);
        let refreshing = 1.0 - self.learning_share();
        let limits = DailyLimits {
            polls: budget.polls_per_day() * refreshing,
            bytes: budget.bytes_per_day().map(|bytes| bytes * refreshing),
        };
        let mut left = granted.bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
        let mut chosen = self.choose(now, granted, limits, budget.per);
        let affordable = chosen.iter().take(granted.polls).take_while(|feed| {
            let begun = left > 0.0;
            left -= self.feeds[**feed].cost.max(0.0);
            begun
        });
        let n = affordable.count();
        for feed in chosen.split_off(n) {
            self.release(feed, now);
        }
        let bytes: f64 = chosen.iter().map(|feed| self.feeds[*feed].cost.max(0.0)).sum();
        self.allowance.spend(n, bytes);
        chosen.extend(lessons);
        chosen
    }

    /// Returns the learning polls of a cycle, which are paid at once.
    fn lessons(&mut self, now: Time, budget: &Budget) -> Vec<usize> {
        let cycles = budget.per.as_secs_f64() / self.cycle.as_secs_f64();
        let lessons = self.learn(now, f64::from(budget.polls) / cycles.max(f64::MIN_POSITIVE));
        let bytes: f64 = lessons.iter().map(|feed| self.feeds[*feed].cost.max(0.0)).sum();
        self.allowance.spend(lessons.len(), bytes);
        lessons
    }

    /// Corrects the bytes that a planned poll of `feed` was expected to cost, and the expectation.
    pub fn note_bytes(&mut self, feed: usize, bytes: u64) {
        let Some(tracked) = self.feeds.get_mut(feed) else { return };
        let wrong_by = bytes as f64 - tracked.cost.max(0.0);
        tracked.cost = tracked.cost.max(0.0) + SIZE_WEIGHT * wrong_by;
        self.allowance.spend(0, wrong_by);
    }

    /// Counts polls outside the plan, for example manual ones.
    pub fn note_polls(&mut self, n_polls: usize, bytes: u64) {
        self.allowance.spend(n_polls, bytes as f64);
    }
}
