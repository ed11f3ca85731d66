//! Why a strategy polls a feed when it does, in one plain sentence for people. The figures are
//! [`PlanWhy`]'s; nothing is decided here.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::ModelKind;
//!
//! let mut planner = Planner::new(Strategy::Uniform, std::time::Duration::from_secs(60));
//! planner.track(Tracked::new(ModelKind::Window.start()));
//! let why = planner.why(0, Time::from_secs(0)).unwrap();
//! assert_eq!(why.words(), "it was never polled, so it goes before the others");
//! ```

use std::time::Duration;

use feed::Time;

use super::why::{Ground, PlanWhy};
use super::{Miss, Strategy};
use crate::spoken;
use crate::words::new_entries;

impl PlanWhy {
    /// One plain sentence.
    pub fn words(&self) -> String {
        let words = self.ground.words(self.strategy);
        match self.held_until.filter(|until| self.at().is_none_or(|at| at <= *until)) {
            Some(until) => format!("{words}; it is held back until {until}"),
            None => words,
        }
    }
}

impl Ground {
    fn words(self, strategy: Strategy) -> String {
        match self {
            Ground::OnItsWay => "its poll is on its way".to_owned(),
            Ground::Worthless => {
                "it weighs nothing or feeds no query, so no poll is spent on it".to_owned()
            }
            Ground::NeverPolled => "it was never polled, so it goes before the others".to_owned(),
            Ground::Turn { ahead, of } => {
                format!("all {of} feeds are polled in turn, and {ahead} come before it")
            }
            Ground::Saturated { divergence, window } => format!(
                "its window of {window} entries is expected to be full of new ones \
                 ({divergence:.1} that count), so entries are being lost and the fullest feeds go \
                 first"
            ),
            Ground::Filling { divergence, window, full_at } => format!(
                "{divergence:.1} new entries are expected; it is polled once its window of \
                 {window} is full of them{}",
                about(full_at)
            ),
            Ground::Price { divergence, utility, price, at } => format!(
                "{divergence:.1} new entries are expected; they have waited {} in all, and it is \
                 polled once that reaches {}, the price of a poll{}",
                waited(utility),
                waited(price),
                about(at)
            ),
            Ground::Waiting { expected, waited, price, miss, at } => format!(
                "by {at} about {} will have waited {} on average; a poll is worth {} of waiting, \
                 the price at which the budget is spent{}",
                new_entries(expected),
                spoken(waited),
                spoken(price),
                lost(miss)
            ),
            Ground::Rank { divergence, utility } => format!(
                "{divergence:.1} new entries are expected; they have waited {} in all, and the \
                 feeds in which most waits are polled first",
                waited(utility)
            ),
            Ground::Allotted { looks_per_day, at } => format!(
                "{} it has {looks_per_day:.2} looks a day; the next is due at {at}",
                aim(strategy)
            ),
            Ground::NotAllotted => format!("{} it has no look", aim(strategy)),
            Ground::NotYetAllotted => {
                format!("{} looks will be shared out with the next plan", aim(strategy))
            }
        }
    }
}

/// What an allocating strategy shares the budget out for.
const fn aim(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::MinDelay => "so that entries wait least, at the hours that suit it best,",
        Strategy::MinDelayAllocation => "so that entries wait least",
        Strategy::MinDelaySchedule => "as often as every feed, at the hours that suit it best,",
        Strategy::MinMiss => "so that fewest entries leave their windows unseen",
        Strategy::CrawlFreshness => "so that what was seen is current most of the time",
        Strategy::CrawlAge => "so that what was seen is outdated for the shortest time",
        Strategy::LambdaCrawl => "so that important changes stay unseen least",
        Strategy::Uniform
        | Strategy::OnlySat
        | Strategy::OnlyTau
        | Strategy::TopKUtility
        | Strategy::TwoSteps
        | Strategy::Tide => "by the budget",
    }
}

fn about(at: Option<Time>) -> String {
    at.map_or(", which is not expected to happen".to_owned(), |at| format!(", about {at}"))
}

/// What a lost entry costs, where somebody said it.
fn lost(miss: Miss) -> String {
    if miss == Miss::default() {
        return String::new();
    }
    format!("; an entry that is lost costs as much as {} of waiting", spoken(miss.0))
}

/// Entry-seconds as the time that the entries have waited together.
fn waited(entry_secs: f64) -> String {
    spoken(Duration::try_from_secs_f64(entry_secs.max(0.0).round()).unwrap_or(Duration::MAX))
}
