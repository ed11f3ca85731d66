//! One interface to every strategy: feeds are tracked, observed, and planned for, cycle by cycle.
//!
//! A feed that was planned is on its way until it is observed or held back. The planner asks for
//! no more than the strategy wants; errors, pace and hints are the caller's, who holds a feed.
//!
//! ```
//! use feed::{Observation, Outcome, Time};
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::ModelKind;
//! use std::time::Duration;
//!
//! let mut planner = Planner::new(Strategy::TwoSteps, Duration::from_secs(600));
//! let feed = planner.track(Tracked::new(ModelKind::Periodic.start()));
//! let now = Time::from_secs(1_700_000_000);
//! assert_eq!(planner.plan(now, 10), [feed], "a feed never polled is due at once");
//! let window = [now - Duration::from_secs(60)];
//! planner.observe(feed, &Observation {
//!     at: now, outcome: Outcome::Seen, window: &window, new: &window,
//!     overlap: 0, suspected_miss: false, partial: false,
//! });
//! assert!(planner.plan(now, 10).is_empty());
//! ```

use std::time::Duration;

use feed::{Observation, Time};

use super::crossings::Crossings;
use super::timetable::Timetable;
use super::top_k_utility::top_k_utility;
use super::two_steps::{Threshold, only_sat, only_tau};
use super::uniform::Turn;
use super::{Standing, Strategy, Tracked};

/// τ starts anywhere; this is one entry waiting an hour.
const TAU_START: f64 = 3600.0;

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
        let mut table = match self.timetable.take() {
            Some(table) if table.is_fresh(now, budget) => table,
            _ => {
                let mut table = Timetable::new(self.strategy, &self.feeds, now, budget, self.cycle);
                for (feed, from) in self.offered_from.iter().enumerate() {
                    if let Some(from) = from {
                        table.offer(feed, &self.feeds[feed], *from);
                    }
                }
                table
            }
        };
        let chosen = table.take(now, budget);
        self.timetable = Some(table);
        chosen
    }
}
