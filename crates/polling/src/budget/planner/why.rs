//! Why a strategy polls a feed now, or when it will: a short code for the record, the figures, and
//! one plain sentence for people. It explains; it decides nothing.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, homogeneous::Homogeneous};
//! use std::time::Duration;
//!
//! let mut planner = Planner::new(Strategy::TwoSteps, Duration::from_secs(600));
//! let model = Model::Homogeneous(Homogeneous { rate: 0.001 });
//! planner.track(Tracked { last: Some(Time::from_secs(0)), ..Tracked::new(model) });
//! let why = planner.why(0, Time::from_secs(2000)).unwrap();
//! assert_eq!(why.code(), "two-steps div=2.00 u=2000 price=3600");
//! assert!(why.words().starts_with("2.0 new entries are expected now. Together they have waited"));
//! ```

use std::time::Duration;

use feed::Time;

use crate::budget::{Miss, Planner, Strategy};

/// Why a feed is polled when it is, under a strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanWhy {
    pub strategy: Strategy,
    pub ground: PlanCase,
    /// It is not offered before this: it backs off, or its domain asked for time.
    pub held_until: Option<Time>,
}

/// What decides, with its figures. Utility and price are entry-seconds, weighted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlanCase {
    /// Its poll is planned and has not come back.
    OnItsWay,
    /// It weighs nothing, or no query keeps its entries.
    Worthless,
    NeverPolled,
    /// So many of all feeds come before it.
    Turn {
        ahead: usize,
        of: usize,
    },
    /// Its window of so many entries is full of new ones.
    Saturated {
        divergence: f64,
        window: u32,
    },
    /// Not saturated; `only-sat` looks at `full_at`, if ever.
    Filling {
        divergence: f64,
        window: u32,
        full_at: Option<Time>,
    },
    /// It is looked at when its utility reaches the price.
    Price {
        divergence: f64,
        utility: f64,
        price: f64,
        at: Option<Time>,
    },
    /// It is looked at when waiting longer would cost more than a poll is worth.
    Waiting {
        /// Entries that the look will find, and how long they will have waited on average.
        expected: f64,
        waited: Duration,
        /// Entry-seconds.
        price: Duration,
        miss: Miss,
        at: Time,
    },
    /// The feeds of largest utility are looked at.
    Rank {
        divergence: f64,
        utility: f64,
    },
    /// It has so many looks a day, the next one then.
    Allotted {
        looks_per_day: f64,
        at: Time,
    },
    /// It is given up: other feeds gain more by every look.
    NotAllotted,
    /// The first allocation is still to be made.
    NotYetAllotted,
}

impl Planner {
    /// Why `feed` is polled when it is, as things stand at `now`; `None` for a number never given.
    pub fn why(&self, feed: usize, now: Time) -> Option<PlanWhy> {
        let from = *self.offered_from.get(feed)?;
        let ground = match from {
            _ if self.feeds[feed].value() <= 0.0 => PlanCase::Worthless,
            None => PlanCase::OnItsWay,
            Some(_) if self.feeds[feed].last.is_none() => PlanCase::NeverPolled,
            Some(_) => self.ground(feed, now),
        };
        let held_until = from.filter(|from| *from > now);
        Some(PlanWhy { strategy: self.strategy, ground, held_until })
    }

    /// Why `feed` was planned just now. Its turn has come, whoever comes after it.
    pub fn why_planned(&self, feed: usize, now: Time) -> Option<PlanWhy> {
        let tracked = self.feeds.get(feed)?;
        let ground = match (tracked.last, self.strategy) {
            (None, _) => PlanCase::NeverPolled,
            (_, Strategy::Uniform) => PlanCase::Turn { ahead: 0, of: self.feeds.len() },
            _ => self.ground(feed, now),
        };
        Some(PlanWhy { strategy: self.strategy, ground, held_until: None })
    }

    fn ground(&self, feed: usize, now: Time) -> PlanCase {
        let tracked = &self.feeds[feed];
        let standing = tracked.standing(now);
        let (divergence, utility, window) = (standing.divergence, standing.utility, tracked.window);
        let moment = |secs: Option<f64>| Some(tracked.last?.shifted((secs? * 1000.0) as i64));
        match self.strategy {
            Strategy::Uniform => {
                let of = self.feeds.len();
                let ahead = (feed + of - self.turn.upcoming() % of) % of;
                PlanCase::Turn { ahead, of }
            }
            Strategy::TwoSteps | Strategy::OnlySat if standing.saturated => {
                PlanCase::Saturated { divergence, window }
            }
            Strategy::OnlySat => {
                let last = tracked.last.unwrap_or(now);
                let full = tracked.believed().until_expected(last, f64::from(window));
                PlanCase::Filling { divergence, window, full_at: moment(full) }
            }
            Strategy::TwoSteps | Strategy::OnlyTau => {
                let (price, last) = (self.tau.tau(), tracked.last.unwrap_or(now));
                let reached = tracked.believed().until_utility(last, price / tracked.value());
                PlanCase::Price { divergence, utility, price, at: moment(reached) }
            }
            Strategy::Tide => self.tide.ground(feed as u32, tracked),
            Strategy::TopKUtility => PlanCase::Rank { divergence, utility },
            Strategy::MinDelay
            | Strategy::MinDelayAllocation
            | Strategy::MinDelaySchedule
            | Strategy::MinMiss
            | Strategy::CrawlFreshness
            | Strategy::CrawlAge
            | Strategy::LambdaCrawl => match &self.timetable {
                None => PlanCase::NotYetAllotted,
                Some(table) => match table.outlook(feed, tracked) {
                    Some((at, looks_per_day)) => PlanCase::Allotted { looks_per_day, at },
                    None => PlanCase::NotAllotted,
                },
            },
        }
    }
}

impl PlanWhy {
    /// When it is polled next, as far as the strategy can tell beforehand.
    pub fn at(&self) -> Option<Time> {
        let at = match self.ground {
            PlanCase::Filling { full_at: at, .. } | PlanCase::Price { at, .. } => at,
            PlanCase::Allotted { at, .. } | PlanCase::Waiting { at, .. } => Some(at),
            _ => None,
        };
        at.map(|at| self.held_until.map_or(at, |until| at.max(until)))
    }

    /// Short, at most 60 bytes, for the record of each poll.
    pub fn code(&self) -> String {
        let figures = match self.ground {
            PlanCase::OnItsWay => "on-its-way".to_owned(),
            PlanCase::Worthless => "worthless".to_owned(),
            PlanCase::NeverPolled => "never-polled".to_owned(),
            PlanCase::Turn { ahead, of } => format!("turn ahead={ahead} of={of}"),
            PlanCase::Saturated { divergence, window } => {
                format!("saturated div={divergence:.2} w={window}")
            }
            PlanCase::Filling { divergence, window, .. } => {
                format!("filling div={divergence:.2} w={window}")
            }
            PlanCase::Price { divergence, utility, price, .. } => {
                format!("div={divergence:.2} u={utility:.0} price={price:.0}")
            }
            PlanCase::Waiting { expected, waited, price, .. } => {
                format!("n={expected:.2} waited={}s price={}s", waited.as_secs(), price.as_secs())
            }
            PlanCase::Rank { divergence, utility } => format!("div={divergence:.2} u={utility:.0}"),
            PlanCase::Allotted { looks_per_day, .. } => format!("looks={looks_per_day:.3}/d"),
            PlanCase::NotAllotted => "no-look".to_owned(),
            PlanCase::NotYetAllotted => "not-yet".to_owned(),
        };
        let mut code = format!("{} {figures}", self.strategy);
        debug_assert!(code.is_ascii(), "a code is cut at a byte");
        code.truncate(crate::policy::explain::CODE_BYTES_MAX);
        code
    }
}
