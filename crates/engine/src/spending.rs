//! The feeds under the budget and the strategy that spends it. The controller owns it and queues
//! the polls that are planned here. It never waits and reads no clock.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use feed::{FeedId, Time};
use polling::budget::{Planner, PollCost, PollPrice, Tracked};
use store::{ExpectedPoll, ExpectedPolls, Store, StoreError};

use crate::budget::{BudgetRule, Budgeted};

/// The interval of planning: short enough not to delay polls, long enough that a strategy has a
/// choice.
const CYCLE: Duration = Duration::from_secs(60);
/// The number of feeds stored at once: more would delay polls after a start.
const EXPECTED_POLLS_MAX: usize = 5000;

/// The feeds under the budget and their strategy.
#[derive(Debug)]
pub struct Spending {
    rule: BudgetRule,
    planner: Planner,
    /// The planner's number of each feed, and the feed of each number.
    numbers: HashMap<FeedId, usize>,
    feeds: Vec<FeedId>,
    plan_at: Time,
    /// Feeds that are planned and whose poll has not ended.
    planned: HashSet<FeedId>,
    /// Feeds polled since their next poll was last stored, in that order, each once.
    fresh: VecDeque<FeedId>,
    /// The generation of each fresh feed.
    generations: HashMap<FeedId, u32>,
    /// The mean bytes of earlier polls, for feeds that are not tracked yet.
    sizes: HashMap<FeedId, u64>,
}

impl Spending {
    /// Resumes from the store: the progress of an earlier strategy and, if the rule counts bytes or
    /// a price, the sizes of earlier polls.
    pub fn restored(rule: BudgetRule, store: &Store, now: Time) -> Result<Spending, StoreError> {
        let mut spending = Spending::new(rule, &store.strategy_progress()?, now);
        if spending.counts_bytes() {
            spending.sizes = store.poll_sizes()?;
        }
        Ok(spending)
    }

    /// Resumes from the stored progress of an earlier strategy, if there is any.
    pub fn new(rule: BudgetRule, progress: &[u8], now: Time) -> Spending {
        let mut planner = Planner::new(rule.spender.strategy, CYCLE);
        planner.set_miss(rule.spender.miss);
        planner.set_profiles(rule.spender.profiles);
        planner.set_learning(rule.learn);
        planner.set_budget(Some(rule.limits()));
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
            sizes: HashMap::new(),
        }
    }

    pub fn holds(&self, feed: FeedId) -> bool {
        self.numbers.contains_key(&feed)
    }

    /// Puts a feed under the budget, or updates what was learned about it.
    pub fn take(&mut self, feed: FeedId, generation: u32, budgeted: Budgeted) {
        self.planned.remove(&feed);
        if self.generations.insert(feed, generation).is_none() {
            self.fresh.push_back(feed);
        }
        let Budgeted { tracked, from, .. } = budgeted;
        if let Some(&number) = self.numbers.get(&feed) {
            return self.planner.renew(number, tracked, from);
        }
        let known = self.sizes.remove(&feed).map_or(PollCost::UNKNOWN, PollCost::of_size);
        let cost = match self.rule.price {
            Some(price) => price.parts(known) as f64,
            None if self.counts_bytes() => known.bytes as f64,
            None => 1.0,
        };
        let number = self.planner.track(Tracked { cost, ..tracked });
        self.planner.hold(number, from);
        self.numbers.insert(feed, number);
        self.feeds.push(feed);
    }

    /// Sets the feed's domain, which allows one request every `gap`.
    pub fn paced(&mut self, feed: FeedId, domain: u32, gap: Duration) {
        if let Some(&number) = self.numbers.get(&feed) {
            self.planner.set_pace(number, domain, gap);
        }
    }

    /// Removes a feed from the budget.
    pub fn forget(&mut self, feed: FeedId) {
        self.planned.remove(&feed);
        if let Some(number) = self.numbers.remove(&feed) {
            self.planner.drop_feed(number);
        }
    }

    /// Allows a feed to be planned again after a poll that was not recorded.
    pub fn release(&mut self, feed: FeedId, from: Time) {
        self.planned.remove(&feed);
        if let Some(&number) = self.numbers.get(&feed) {
            self.planner.hold(number, from);
        }
    }

    /// Counts a poll, planned or not: its bytes, or its price if the rule has one.
    pub fn polled(&mut self, feed: FeedId, cost: PollCost) {
        let spent = self.rule.price.map_or(cost.bytes, |price| price.parts(cost));
        match self.numbers.get(&feed) {
            Some(&number) if self.planned.contains(&feed) => {
                if self.counts_bytes() {
                    self.planner.note_bytes(number, spent);
                }
            }
            _ => self.planner.note_polls(1, spent),
        }
    }

    fn counts_bytes(&self) -> bool {
        self.rule.limits().bytes.is_some()
    }

    /// The time of the next planning.
    pub fn plan_at(&self) -> Time {
        self.plan_at
    }

    /// Plans the polls of this cycle, each with its cause in short.
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

    /// Returns what the store keeps: when the feeds that were polled lately come next, and the
    /// strategy's progress.
    pub fn expected_polls(&mut self, now: Time) -> ExpectedPolls {
        let n_stored = self.fresh.len().min(EXPECTED_POLLS_MAX);
        let feeds = self.fresh.drain(..n_stored).filter_map(|feed| {
            let generation = self.generations.remove(&feed)?;
            let number = *self.numbers.get(&feed)?;
            let why = self.planner.why(number, now)?;
            let mut reason = format!("budget of {}: {}", self.rule, why.words());
            if self.rule.price.is_some() {
                let units = PollPrice::units_of(self.planner.feeds()[number].cost);
                reason.push_str(&format!(" A poll of this feed costs {units:.2} units."));
            }
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
    fn unplanned_polls_count_and_a_restart_resumes() {
        let (rule, mut spent) = spending("120/1h uniform", 9);
        assert_eq!(spent.plan(at(0)).len(), 2);
        (0..2).for_each(|_| spent.polled(FeedId(77), PollCost::UNKNOWN));
        assert!(spent.plan(at(60)).is_empty(), "the two of this minute were made by hand");
        let progress = spent.expected_polls(at(60)).progress;
        let mut again = Spending::new(rule, &progress, at(61));
        (1..=9).for_each(|feed| again.take(FeedId(feed), 0, fresh(&rule, at(0))));
        assert!(again.plan(at(61)).is_empty(), "a restart does not renew the allowance");
    }

    #[test]
    fn a_price_counts_what_polls_really_cost() {
        let (rule, mut spending) = spending("60/1h:1+20/MB uniform", 3);
        let large = PollCost { bytes: 1_000_000, ..PollCost::UNKNOWN };
        let planned: Vec<FeedId> = spending.plan(at(0)).into_iter().map(|(feed, _)| feed).collect();
        assert_eq!(planned.len(), 1, "one unit a minute buys one poll of ordinary size");
        spending.polled(planned[0], large);
        spending.take(planned[0], 1, fresh(&rule, at(0)));
        let n_soon: usize = (1..10).map(|minute| spending.plan(at(60 * minute)).len()).sum();
        assert_eq!(n_soon, 0, "a megabyte has cost the units of 21 minutes");
        let n_later: usize = (10..40).map(|minute| spending.plan(at(60 * minute)).len()).sum();
        assert!(n_later > 0, "the debt is paid");
        let reason = spending.expected_polls(at(2400)).feeds.into_iter().map(|feed| feed.reason);
        let reasons: Vec<String> = reason.collect();
        assert!(reasons.iter().any(|reason| reason.contains("costs 5.")), "{reasons:?}");
    }

    #[test]
    fn a_restart_knows_what_polls_cost() {
        let rule: BudgetRule = "60/1h:1+20/MB+5/s uniform".parse().expect("a rule");
        let mut spending = Spending::new(rule, &[], at(0));
        spending.sizes = HashMap::from([(FeedId(1), 1_000_000), (FeedId(2), 0)]);
        (1..=3).for_each(|feed| spending.take(FeedId(feed), 0, fresh(&rule, at(0))));
        let units: Vec<f64> =
            spending.planner.feeds().iter().map(|feed| PollPrice::units_of(feed.cost)).collect();
        // A megabyte is parsed in 59 ms; a feed without a poll has the ordinary size.
        assert_eq!(units, [21.294, 1.0, 1.345]);
    }

    #[test]
    fn each_feed_waits_at_most_once_to_be_stored() {
        let n_feeds = EXPECTED_POLLS_MAX as u32 + 10;
        let (rule, mut spending) = spending("600/1h uniform", n_feeds);
        for generation in 1..4 {
            for feed in 1..=n_feeds {
                spending.take(FeedId(feed), generation, fresh(&rule, at(0)));
            }
        }
        let told = [spending.expected_polls(at(0)).feeds, spending.expected_polls(at(0)).feeds];
        assert_eq!(told.each_ref().map(Vec::len), [EXPECTED_POLLS_MAX, 10]);
        assert!(told.iter().flatten().all(|feed| feed.generation == 3), "as it is by now");
    }

    #[test]
    fn each_feed_is_stored_once_after_each_poll() {
        let (rule, mut spending) = spending("600/1h two-steps periodic", 2);
        assert_eq!(spending.expected_polls(at(0)).feeds.len(), 2);
        assert!(spending.expected_polls(at(0)).feeds.is_empty());
        spending.forget(FeedId(1));
        assert!(!spending.holds(FeedId(1)) && spending.holds(FeedId(2)));
        let tracked = Tracked { last: Some(at(0)), ..Tracked::new(rule.model.start()) };
        spending.take(FeedId(2), 7, Budgeted { tracked, from: at(900), latest: None });
        let expected_polls = spending.expected_polls(at(1));
        let [feed] = expected_polls.feeds.as_slice() else { panic!("{expected_polls:?}") };
        assert_eq!((feed.feed, feed.generation), (FeedId(2), 7));
        assert!(
            feed.reason.starts_with("budget of 600/1h two-steps periodic: "),
            "{}",
            feed.reason
        );
    }
}
