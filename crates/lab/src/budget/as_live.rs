//! Spends a budget as a new instance does: first polls cost budget, and no feed is polled again
//! before its shortest interval.
//!
//! [`spend`](super::spend()) compares strategies and does not count first polls. This module
//! mirrors the live loop, and a test compares the two.

use std::time::Duration;

use feed::Time;
use polling::budget::{Budget, Planner, Spender, Tracked};
use polling::model::ModelKind;

use crate::{PolledFeed, World};

/// The budget settings of an instance.
#[derive(Clone, Copy, Debug)]
pub struct LiveBudget {
    pub budget: Budget,
    pub spender: Spender,
    pub model: ModelKind,
    /// The time between two plans.
    pub cycle: Duration,
    /// The shortest interval between two polls of a feed.
    pub alpha: Duration,
}

/// Returns the polls of each feed of the world, from `start` to `end`.
pub fn polls_as_live(world: &World, rule: &LiveBudget, start: Time, end: Time) -> Vec<Vec<Time>> {
    let mut planner = Planner::new(rule.spender.strategy, rule.cycle);
    planner.set_miss(rule.spender.miss);
    planner.set_profiles(rule.spender.profiles);
    planner.set_budget(Some(rule.budget));
    let mut polled_feeds: Vec<PolledFeed<'_>> =
        world.feeds.iter().map(|f| PolledFeed::new(world, f)).collect();
    for feed in &world.feeds {
        let number =
            planner.track(Tracked { weight: feed.weight, ..Tracked::new(rule.model.start()) });
        planner.hold(number, start);
    }
    let mut polls = vec![Vec::new(); world.feeds.len()];
    let mut now = start;
    while now <= end {
        for number in planner.spend(now) {
            let polled = &mut polled_feeds[number];
            polled.poll(now);
            polls[number].push(now);
            if let Some(seen) = polled.observation() {
                planner.observe(number, &seen);
                planner.hold(number, now + rule.alpha);
            }
        }
        now = now + rule.cycle;
    }
    polls
}
