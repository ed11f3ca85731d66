//! Explains why a strategy polls a feed now, or when it will: a short code for the record, and the
//! figures. It decides nothing.
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

/// The explanation of a feed's poll time under a strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanWhy {
    pub strategy: Strategy,
    pub case: PlanCase,
    /// The feed is not offered before this: it backs off, or its domain asked for time.
    pub held_until: Option<Time>,
}

/// The deciding case, with its figures. Utility and price are weighted entry-seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlanCase {
    /// The poll is in flight.
    InFlight,
    /// The feed has no weight, or no query keeps its entries.
    Worthless,
    NeverPolled,
    /// `ahead` of all feeds come before it.
    Turn {
        ahead: usize,
        of: usize,
    },
    /// All entries of its window are expected to be new.
    Saturated {
        divergence: f64,
        window: u32,
    },
    /// Not saturated; `only-sat` polls it at `full_at`, if ever.
    Filling {
        divergence: f64,
        window: u32,
        full_at: Option<Time>,
    },
    /// The feed is polled when its utility reaches the price.
    Price {
        divergence: f64,
        utility: f64,
        price: f64,
        at: Option<Time>,
    },
    /// The feed is polled when waiting longer would cost more than a poll is worth.
    Waiting {
        /// The entries that the poll will find, and their mean wait.
        expected: f64,
        waited: Duration,
        /// Entry-seconds.
        price: Duration,
        miss: Miss,
        at: Time,
    },
    /// The feeds with the largest utility are polled.
    Rank {
        divergence: f64,
        utility: f64,
    },
    /// The feeds with the most expected entries are polled.
    Expected {
        expected: f64,
    },
    /// The poll is to teach how often the feed posts, or when.
    Learning {
        /// Entries per day, as far as known.
        per_day: f64,
        /// The likely error of that rate, as a share of it.
        uncertainty: f64,
        /// Whether the hours are in doubt more than the rate.
        hours: bool,
    },
    /// The feed gets this many polls a day, the next one at `at`.
    Allotted {
        polls_per_day: f64,
        at: Time,
    },
    /// The feed gets no polls: other feeds gain more from each.
    NotAllotted,
    /// The first allocation is still to come.
    NotYetAllotted,
}

impl Planner {
    /// Explains when `feed` is polled, as known at `now`. `None` for an unknown number.
    pub fn why(&self, feed: usize, now: Time) -> Option<PlanWhy> {
        let from = *self.offered_from.get(feed)?;
        let case = match from {
            _ if self.feeds[feed].value() <= 0.0 => PlanCase::Worthless,
            None => PlanCase::InFlight,
            Some(_) if self.feeds[feed].last.is_none() => PlanCase::NeverPolled,
            Some(_) => self.case(feed, now),
        };
        let held_until = from.filter(|from| *from > now);
        Some(PlanWhy { strategy: self.strategy, case, held_until })
    }

    /// Explains why `feed` was planned just now.
    pub fn why_planned(&self, feed: usize, now: Time) -> Option<PlanWhy> {
        let tracked = self.feeds.get(feed)?;
        let case = match (tracked.last, self.strategy) {
            (None, _) => PlanCase::NeverPolled,
            _ if self.learning.is_lesson(feed) => {
                let per_day = tracked.believed().mean_rate() * 86_400.0;
                let (doubt, hours) = (tracked.model.doubt(), tracked.model.doubts_hours());
                PlanCase::Learning { per_day, uncertainty: doubt.sqrt(), hours }
            }
            (_, Strategy::Uniform) => PlanCase::Turn { ahead: 0, of: self.feeds.len() },
            _ => self.case(feed, now),
        };
        Some(PlanWhy { strategy: self.strategy, case, held_until: None })
    }

    fn case(&self, feed: usize, now: Time) -> PlanCase {
        let tracked = &self.feeds[feed];
        let urgency = tracked.urgency(now);
        let (divergence, utility, window) = (urgency.divergence, urgency.utility, tracked.window);
        let moment = |secs: Option<f64>| Some(tracked.last?.shifted((secs? * 1000.0) as i64));
        match self.strategy {
            Strategy::Uniform => {
                let of = self.feeds.len();
                let ahead = (feed + of - self.turn.upcoming() % of) % of;
                PlanCase::Turn { ahead, of }
            }
            Strategy::TwoSteps | Strategy::OnlySat if urgency.saturated => {
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
            Strategy::Tide => self.tide.case(feed as u32, tracked),
            Strategy::TopKUtility => PlanCase::Rank { divergence, utility },
            Strategy::TopKExpected => {
                let last = tracked.last.unwrap_or(now);
                PlanCase::Expected { expected: tracked.believed().expect(last, now) }
            }
            Strategy::MinDelay
            | Strategy::MinDelayAllocation
            | Strategy::MinDelaySchedule
            | Strategy::MinMiss
            | Strategy::CrawlFreshness
            | Strategy::CrawlAge
            | Strategy::LambdaCrawl => match &self.timetable {
                None => PlanCase::NotYetAllotted,
                Some(table) => match table.next_due(feed, tracked) {
                    Some((at, polls_per_day)) => PlanCase::Allotted { polls_per_day, at },
                    None => PlanCase::NotAllotted,
                },
            },
        }
    }
}

impl PlanWhy {
    /// Returns the time of the next poll, if the strategy knows it.
    pub fn at(&self) -> Option<Time> {
        let at = match self.case {
            PlanCase::Filling { full_at: at, .. } | PlanCase::Price { at, .. } => at,
            PlanCase::Allotted { at, .. } | PlanCase::Waiting { at, .. } => Some(at),
            _ => None,
        };
        at.map(|at| self.held_until.map_or(at, |until| at.max(until)))
    }

    /// Returns a short code of at most 60 bytes for the record of each poll.
    pub fn code(&self) -> String {
        let figures = match self.case {
            PlanCase::InFlight => "on-its-way".to_owned(),
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
            PlanCase::Expected { expected } => format!("expected={expected:.2}"),
            PlanCase::Learning { per_day, uncertainty, hours } => {
                let what = if hours { "learning hours" } else { "learning" };
                format!("{what} per-day={per_day:.2} uncertainty={uncertainty:.2}")
            }
            PlanCase::Allotted { polls_per_day, .. } => format!("looks={polls_per_day:.3}/d"),
            PlanCase::NotAllotted => "no-look".to_owned(),
            PlanCase::NotYetAllotted => "not-yet".to_owned(),
        };
        let mut code = format!("{} {figures}", self.strategy);
        debug_assert!(code.is_ascii(), "a code is cut at a byte");
        code.truncate(crate::policy::explain::CODE_BYTES_MAX);
        code
    }
}
