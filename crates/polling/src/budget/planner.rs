//! One interface to every strategy: feeds are tracked, observed, and planned for, cycle by cycle.
//!
//! A feed that was planned is on its way until it is observed or held back. The planner asks for
//! no more than the strategy wants; errors, pace and hints are the caller's, who holds a feed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use feed::{Observation, Time};

use super::crossings::Crossings;
use super::timetable::{Rhythm, rhythms};
use super::top_k_utility::top_k_utility;
use super::two_steps::{Threshold, only_sat, only_tau};
use super::uniform::Turn;
use super::{Standing, Strategy, Tracked};

/// τ starts anywhere; this is one entry waiting an hour.
const TAU_START: f64 = 3600.0;
/// Allocations follow the models once a day.
const ALLOCATED_FOR: Duration = Duration::from_secs(86_400);

/// A strategy with its feeds.
#[derive(Clone, Debug)]
pub struct Planner {
    strategy: Strategy,
    cycle: Duration,
    feeds: Vec<Tracked>,
    /// From when on each feed may be offered; `None` while it is on its way or dropped.
    offered_from: Vec<Option<Time>>,
    tau: Threshold,
    turn: Turn,
    crossings: Crossings,
    timetable: Option<Timetable>,
}

/// What the allocating strategies keep.
#[derive(Clone, Debug)]
struct Timetable {
    made_at: Time,
    budget: usize,
    rhythms: Vec<Rhythm>,
    /// Moment, feed, key number.
    due: BinaryHeap<Reverse<(Time, usize, u32)>>,
    /// Stale entries of the heap carry an older number.
    keyed: Vec<u32>,
}

impl Planner {
    /// `cycle` is the time between two plans.
    pub fn new(strategy: Strategy, cycle: Duration) -> Planner {
        Planner {
            strategy,
            cycle: cycle.max(Duration::from_secs(1)),
            feeds: Vec::new(),
            offered_from: Vec::new(),
            tau: Threshold::new(TAU_START),
            turn: Turn::default(),
            crossings: Crossings::default(),
            timetable: None,
        }
    }

    /// Adds a feed; answers its number.
    pub fn track(&mut self, feed: Tracked) -> usize {
        self.feeds.push(feed);
        self.offered_from.push(Some(Time::from_millis(i64::MIN)));
        let number = self.feeds.len() - 1;
        self.offer(number);
        number
    }

    pub fn feeds(&self) -> &[Tracked] {
        &self.feeds
    }

    pub fn threshold(&self) -> f64 {
        self.tau.tau()
    }

    /// Starts τ elsewhere.
    pub fn set_threshold(&mut self, tau: f64) {
        self.tau = Threshold::new(tau);
        (0..self.feeds.len()).for_each(|feed| self.offer(feed));
    }

    /// Another weight and selectivity: subscribers came, a query went.
    pub fn revalue(&mut self, feed: usize, weight: f64, selectivity: f64) {
        let Some(tracked) = self.feeds.get_mut(feed) else { return };
        (tracked.weight, tracked.selectivity) = (weight, selectivity);
        self.timetable = None;
        self.offer(feed);
    }

    /// Takes in one poll; the feed may be planned for again.
    pub fn observe(&mut self, feed: usize, o: &Observation<'_>) {
        let Some(tracked) = self.feeds.get_mut(feed) else { return };
        tracked.learn(o);
        self.offered_from[feed] = Some(Time::from_millis(i64::MIN));
        self.offer(feed);
    }

    /// Not before `until`: the feed backs off, or its domain asked for time.
    pub fn hold(&mut self, feed: usize, until: Time) {
        if feed < self.feeds.len() {
            self.offered_from[feed] = Some(until);
            self.offer(feed);
        }
    }

    /// Never again.
    pub fn drop_feed(&mut self, feed: usize) {
        if feed < self.feeds.len() {
            self.offered_from[feed] = None;
            self.feeds[feed].weight = 0.0;
            self.crossings.remove(feed as u32);
            self.timetable = None;
        }
    }

    /// The feeds to poll now, with `budget` polls for this cycle. Two-steps may exceed it, as
    /// published, and adapts.
    pub fn plan(&mut self, now: Time, budget: usize) -> Vec<usize> {
        let chosen = match self.strategy {
            Strategy::TwoSteps => self.crossings.plan(now, budget, &mut self.tau, &self.feeds),
            Strategy::Uniform => self.in_turn(now, budget),
            Strategy::OnlySat => only_sat(&self.standings(now), budget),
            Strategy::TopKUtility => top_k_utility(&self.standings(now), budget),
            Strategy::OnlyTau => {
                let standings = self.standings(now);
                only_tau(&standings, budget, &mut self.tau)
            }
            _ => self.by_timetable(now, budget),
        };
        for feed in &chosen {
            self.offered_from[*feed] = None;
        }
        chosen
    }

    fn may_offer(&self, feed: usize, now: Time) -> bool {
        self.offered_from[feed].is_some_and(|from| from <= now)
    }

    /// What may not be offered stands as if nothing were to be gained.
    fn standings(&self, now: Time) -> Vec<Standing> {
        let nothing = Standing { divergence: 0.0, saturated: false, utility: 0.0 };
        let of =
            |feed| if self.may_offer(feed, now) { self.feeds[feed].standing(now) } else { nothing };
        (0..self.feeds.len()).map(of).collect()
    }

    fn in_turn(&mut self, now: Time, budget: usize) -> Vec<usize> {
        let order = self.turn.take(self.feeds.len(), budget);
        order
            .into_iter()
            .filter(|f| self.may_offer(*f, now) && self.feeds[*f].value() > 0.0)
            .collect()
    }

    /// Puts a feed where its strategy will find it.
    fn offer(&mut self, feed: usize) {
        let Some(from) = self.offered_from[feed] else { return };
        match self.strategy {
            Strategy::TwoSteps => {
                let bar = self.tau.tau();
                self.crossings.insert(feed as u32, &self.feeds[feed], bar, from);
            }
            _ => {
                if let Some(table) = &mut self.timetable {
                    table.offer(feed, &self.feeds[feed], from);
                }
            }
        }
    }

    fn by_timetable(&mut self, now: Time, budget: usize) -> Vec<usize> {
        let fresh = |t: &Timetable| t.budget == budget && now.since(t.made_at) < ALLOCATED_FOR;
        if !self.timetable.as_ref().is_some_and(fresh) {
            let per_day = budget as f64 * 86_400.0 / self.cycle.as_secs_f64();
            let rhythms = rhythms(self.strategy, &self.feeds, per_day);
            let (due, keyed) = (BinaryHeap::new(), vec![0; self.feeds.len()]);
            let mut table = Timetable { made_at: now, budget, rhythms, due, keyed };
            for (feed, from) in self.offered_from.iter().enumerate() {
                if let Some(from) = from {
                    table.offer(feed, &self.feeds[feed], *from);
                }
            }
            self.timetable = Some(table);
        }
        self.timetable.as_mut().map_or(Vec::new(), |table| table.take(now, budget))
    }
}

impl Timetable {
    /// At most `n` feeds that are due, the longest overdue first.
    fn take(&mut self, now: Time, n: usize) -> Vec<usize> {
        let mut chosen = Vec::new();
        while chosen.len() < n
            && let Some(&Reverse((at, feed, keyed))) = self.due.peek()
            && at <= now
        {
            self.due.pop();
            if self.keyed[feed] == keyed {
                self.keyed[feed] += 1;
                chosen.push(feed);
            }
        }
        chosen
    }

    fn due_at(&self, feed: usize, tracked: &Tracked) -> Option<Time> {
        match (self.rhythms.get(feed), tracked.last) {
            (Some(Rhythm::Never), _) => None,
            // A feed never polled, or added since the allocation, is due at once.
            (_, None) | (None, _) => Some(Time::from_millis(i64::MIN)),
            (Some(rhythm), Some(last)) => rhythm.next(last),
        }
    }

    fn offer(&mut self, feed: usize, tracked: &Tracked, from: Time) {
        if self.keyed.len() <= feed {
            self.keyed.resize(feed + 1, 0);
        }
        self.keyed[feed] += 1;
        if let Some(at) = self.due_at(feed, tracked) {
            self.due.push(Reverse((at.max(from), feed, self.keyed[feed])));
        }
    }
}
