//! The feeds under the budget and the strategy that spends it. Owned by the loop, which lines up
//! what is planned here; it never waits and reads no clock.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use feed::{FeedId, Time};
use polling::budget::{Planner, Tracked};
use store::{ExpectedPoll, ExpectedPolls};

use crate::budget::{BudgetRule, Budgeted};

/// How often polls are planned: short enough that nobody waits for it, long enough that a
/// strategy has something to choose from.
const CYCLE: Duration = Duration::from_secs(60);
/// What a document is taken to cost before one was seen: the median of 200,000 recorded feeds
/// (dissertation 003, chapter 3).
const DOCUMENT_BYTES: f64 = 17_000.0;

/// The store hears of so many feeds at once, or polls would wait for it after a start.
const OUTLOOK_MAX: usize = 5000;

#[derive(Debug)]
pub struct Spending {
    rule: BudgetRule,
    planner: Planner,
    /// The planner's number of each feed, and back.
    numbers: HashMap<FeedId, usize>,
    feeds: Vec<FeedId>,
    plan_at: Time,
    /// Planned and not yet back.
    planned: HashSet<FeedId>,
    /// Polled since the store was last told when they come next, in that order, each once.
    fresh: VecDeque<FeedId>,
    /// The generation of each of them.
    generations: HashMap<FeedId, u32>,
}

impl Spending {
    /// Goes on from what an earlier one had stored, if anything.
    pub fn new(rule: BudgetRule, progress: &[u8], now: Time) -> Spending {
        let mut planner = Planner::new(rule.spender.strategy, CYCLE);
        planner.set_miss(rule.spender.miss);
        planner.set_budget(Some(rule.budget));
        planner.resume(progress);
        Spending {
            rule,
            planner,
            numbers: HashMap::new(),
            feeds: Vec::new(),
            plan_at: now,
            planned: HashSet::new(),
            fresh: VecDeque::new(),
            generations: HashMap::new(),
        }
    }

    pub fn holds(&self, feed: FeedId) -> bool {
        self.numbers.contains_key(&feed)
    }

    /// Takes a feed under the budget, or takes over what was learned of it since.
    pub fn take(&mut self, feed: FeedId, generation: u32, budgeted: Budgeted) {
        self.planned.remove(&feed);
        if self.generations.insert(feed, generation).is_none() {
            self.fresh.push_back(feed);
        }
        let Budgeted { tracked, from, .. } = budgeted;
        if let Some(&number) = self.numbers.get(&feed) {
            return self.planner.renew(number, tracked, from);
        }
        let cost = if self.counts_bytes() { DOCUMENT_BYTES } else { 1.0 };
        let number = self.planner.track(Tracked { cost, ..tracked });
        self.planner.hold(number, from);
        self.numbers.insert(feed, number);
        self.feeds.push(feed);
    }

    /// Where the feed lives: a domain that may be asked once every `gap`.
    pub fn paced(&mut self, feed: FeedId, domain: u32, gap: Duration) {
        if let Some(&number) = self.numbers.get(&feed) {
            self.planner.set_pace(number, domain, gap);
        }
    }

    /// The feed is no longer under the budget.
    pub fn forget(&mut self, feed: FeedId) {
        self.planned.remove(&feed);
        if let Some(number) = self.numbers.remove(&feed) {
            self.planner.drop_feed(number);
        }
    }

    /// A poll came back with nothing that was recorded: the feed may be planned for again.
    pub fn release(&mut self, feed: FeedId, from: Time) {
        self.planned.remove(&feed);
        if let Some(&number) = self.numbers.get(&feed) {
            self.planner.hold(number, from);
        }
    }

    /// A poll was made, planned or not: it counts.
    pub fn polled(&mut self, feed: FeedId, bytes: u64) {
        match self.numbers.get(&feed) {
            Some(&number) if self.planned.contains(&feed) => {
                if self.counts_bytes() {
                    self.planner.note_bytes(number, bytes);
                }
            }
            _ => self.planner.note_polls(1, bytes),
        }
    }

    fn counts_bytes(&self) -> bool {
        self.rule.budget.bytes.is_some()
    }

    /// When there is something to plan.
    pub fn plan_at(&self) -> Time {
        self.plan_at
    }

    /// The polls of this cycle, each with its reason in short.
    pub fn plan(&mut self, now: Time) -> Vec<(FeedId, String)> {
        if now < self.plan_at {
            return Vec::new();
        }
        self.plan_at = now + CYCLE;
        let chosen = self.planner.spend(now);
        let polls = chosen.into_iter().map(|number| {
            let why = self.planner.why_planned(number, now);
            (self.feeds[number], why.map_or_else(String::new, |why| why.code()))
        });
        let polls: Vec<_> = polls.collect();
        self.planned.extend(polls.iter().map(|(feed, _)| *feed));
        polls
    }

    /// What the store should know: when the feeds that were polled lately come next, and how far
    /// the strategy is.
    pub fn outlook(&mut self, now: Time) -> ExpectedPolls {
        let n_told = self.fresh.len().min(OUTLOOK_MAX);
        let feeds = self.fresh.drain(..n_told).filter_map(|feed| {
            let generation = self.generations.remove(&feed)?;
            let why = self.planner.why(*self.numbers.get(&feed)?, now)?;
            let reason = format!("budget of {}: {}", self.rule, why.words());
            Some(ExpectedPoll { feed, generation, at: why.at(), reason, cause: why.code() })
        });
        ExpectedPolls { feeds: feeds.collect(), progress: self.planner.progress() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Time {
        Time::from_secs(1_000_000 + secs)
    }

    fn fresh(rule: &BudgetRule, from: Time) -> Budgeted {
        Budgeted { tracked: Tracked::new(rule.model.start()), from, latest: None }
    }

    fn spending(rule: &str, n_feeds: u32) -> (BudgetRule, Spending) {
        let rule: BudgetRule = rule.parse().expect("a rule");
        let mut spending = Spending::new(rule, &[], at(0));
        (1..=n_feeds).for_each(|feed| spending.take(FeedId(feed), 0, fresh(&rule, at(0))));
        (rule, spending)
    }

    #[test]
    fn each_cycle_spends_its_share_and_no_feed_twice() {
        let (_, mut spending) = spending("120/1h uniform", 5);
        let mut polled = Vec::new();
        for cycle in 0..3 {
            let polls = spending.plan(at(60 * cycle));
            assert!(polls.iter().all(|(_, cause)| cause.contains("never-polled")), "{polls:?}");
            polled.extend(polls.into_iter().map(|(feed, _)| feed.0));
            assert!(spending.plan(at(60 * cycle + 59)).is_empty(), "its cycle has been planned");
        }
        polled.sort_unstable();
        assert_eq!(polled, [1, 2, 3, 4, 5], "two a minute; none that is on its way");
    }

    #[test]
    fn polls_beside_the_plan_count_and_a_restart_goes_on() {
        let (rule, mut spent) = spending("120/1h uniform", 9);
        assert_eq!(spent.plan(at(0)).len(), 2);
        (0..2).for_each(|_| spent.polled(FeedId(77), 500));
        assert!(spent.plan(at(60)).is_empty(), "the two of this minute were made by hand");
        let progress = spent.outlook(at(60)).progress;
        let mut again = Spending::new(rule, &progress, at(61));
        (1..=9).for_each(|feed| again.take(FeedId(feed), 0, fresh(&rule, at(0))));
        assert!(again.plan(at(61)).is_empty(), "a restart is no new allowance");
    }

    #[test]
    fn what_the_store_is_still_to_hear_of_is_no_more_than_there_are_feeds() {
        let n_feeds = OUTLOOK_MAX as u32 + 10;
        let (rule, mut spending) = spending("600/1h uniform", n_feeds);
        for generation in 1..4 {
            for feed in 1..=n_feeds {
                spending.take(FeedId(feed), generation, fresh(&rule, at(0)));
            }
        }
        let told = [spending.outlook(at(0)).feeds, spending.outlook(at(0)).feeds];
        assert_eq!(told.each_ref().map(Vec::len), [OUTLOOK_MAX, 10]);
        assert!(told.iter().flatten().all(|feed| feed.generation == 3), "as it is by now");
    }

    #[test]
    fn the_store_hears_of_a_feed_once_after_each_poll() {
        let (rule, mut spending) = spending("600/1h two-steps periodic", 2);
        assert_eq!(spending.outlook(at(0)).feeds.len(), 2);
        assert!(spending.outlook(at(0)).feeds.is_empty());
        spending.forget(FeedId(1));
        assert!(!spending.holds(FeedId(1)) && spending.holds(FeedId(2)));
        let tracked = Tracked { last: Some(at(0)), ..Tracked::new(rule.model.start()) };
        spending.take(FeedId(2), 7, Budgeted { tracked, from: at(900), latest: None });
        let outlook = spending.outlook(at(1));
        let [feed] = outlook.feeds.as_slice() else { panic!("{outlook:?}") };
        assert_eq!((feed.feed, feed.generation), (FeedId(2), 7));
        assert!(
            feed.reason.starts_with("budget of 600/1h two-steps periodic: "),
            "{}",
            feed.reason
        );
    }
}
