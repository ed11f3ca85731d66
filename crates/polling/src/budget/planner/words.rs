//! Explains in plain sentences why a strategy polls a feed when it does. The figures come from
//! [`PlanWhy`].
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::ModelKind;
//!
//! let mut planner = Planner::new(Strategy::Uniform, std::time::Duration::from_secs(60));
//! planner.track(Tracked::new(ModelKind::Window.start()));
//! let why = planner.why(0, Time::from_secs(0)).unwrap();
//! assert_eq!(why.words(), "It was never polled, so it comes before the others.");
//! ```

use std::time::Duration;

use feed::Time;

use super::why::{PlanCase, PlanWhy};
use crate::budget::{Miss, Strategy};
use crate::policy::explain::words::expected_words;
use crate::spoken;

impl PlanWhy {
    /// Returns plain sentences.
    pub fn words(&self) -> String {
        let when = match self.case {
            PlanCase::Filling { full_at: at, .. } | PlanCase::Price { at, .. } => about(at),
            _ => String::new(),
        };
        let words = plan_sentences(self.case, self.strategy) + &when;
        match self.held_until.filter(|until| self.at().is_none_or(|at| at <= *until)) {
            Some(until) => format!("{words} It waits until {until}."),
            None => words,
        }
    }
}

/// Returns the sentences for a case, without the time of the next poll.
pub(crate) fn plan_sentences(case: PlanCase, strategy: Strategy) -> String {
    match case {
        PlanCase::InFlight => "It is being polled now.".to_owned(),
        PlanCase::Worthless => {
            "Its weight is 0 or no query uses it, so the budget spends no poll on it.".to_owned()
        }
        PlanCase::NeverPolled => "It was never polled, so it comes before the others.".to_owned(),
        PlanCase::Turn { ahead: 0, of } => {
            format!("All {of} feeds are polled in turn, and its turn has come.")
        }
        PlanCase::Turn { ahead, of } => {
            format!("All {of} feeds are polled in turn; {ahead} come before it.")
        }
        PlanCase::Saturated { window, .. } => format!(
            "All {window} entries it shows are expected to be new, so entries are being lost. The \
             fullest feeds are polled first."
        ),
        PlanCase::Filling { divergence, window, .. } => format!(
            "{divergence:.1} new entries are expected now. It is polled when all {window} entries \
             it shows are expected to be new."
        ),
        PlanCase::Price { divergence, utility, price, .. } => format!(
            "{divergence:.1} new entries are expected now. Together they have waited {}; the feed \
             is polled when that reaches {}.",
            waited(utility),
            waited(price)
        ),
        PlanCase::Waiting { expected, waited, price, miss, .. } => {
            expected_words(expected, waited, price) + &lost(miss)
        }
        PlanCase::Rank { divergence, utility } => format!(
            "{divergence:.1} new entries are expected now. Together they have waited {}. The feeds \
             with the longest wait are polled first.",
            waited(utility)
        ),
        PlanCase::Expected { expected } => format!(
            "{expected:.1} new entries are expected now. The feeds with the most are polled first; \
             among equals, those with the most readers."
        ),
        PlanCase::Learning { hours: true, .. } => {
            "This is a learning poll. It is to teach at which hours the feed posts: they seem to \
             have changed."
                .to_owned()
        }
        PlanCase::Learning { per_day, .. } if per_day < 0.05 => {
            "This is a learning poll. It is to teach how often the feed posts: so far hardly any \
             entries are expected."
                .to_owned()
        }
        PlanCase::Learning { per_day, uncertainty, .. } => format!(
            "This is a learning poll. It is to teach how often the feed posts: now that is about \
             {per_day:.1} entries a day, give or take {:.0} %.",
            100.0 * uncertainty
        ),
        PlanCase::Allotted { polls_per_day, .. } => {
            format!("It gets {polls_per_day:.2} polls a day. {}", aim(strategy))
        }
        PlanCase::NotAllotted => format!("It gets no poll. {}", aim(strategy)),
        PlanCase::NotYetAllotted => {
            format!("The next plan will share out the polls. {}", aim(strategy))
        }
    }
}

/// Returns the aim of an allocating strategy.
const fn aim(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::MinDelay => "Polls are shared out for the shortest wait, at the best hours.",
        Strategy::MinDelayAllocation => "Polls are shared out for the shortest wait.",
        Strategy::MinDelaySchedule => "Every feed gets as many polls, at its best hours.",
        Strategy::MinMiss => "Polls are shared out so that the fewest entries are missed.",
        Strategy::CrawlFreshness => "Polls are shared out so that copies are current most often.",
        Strategy::CrawlAge => "Polls are shared out so that copies are outdated for least time.",
        Strategy::LambdaCrawl => "Polls are shared out by how important changes are.",
        Strategy::Uniform
        | Strategy::OnlySat
        | Strategy::OnlyTau
        | Strategy::TopKUtility
        | Strategy::TopKExpected
        | Strategy::TwoSteps
        | Strategy::Tide => "The budget decides.",
    }
}

fn about(at: Option<Time>) -> String {
    at.map_or(" That is not expected.".to_owned(), |at| format!(" That is about {at}."))
}

/// Tells the cost of a lost entry, if it is not the default.
fn lost(miss: Miss) -> String {
    if miss == Miss::default() {
        return String::new();
    }
    format!(" (A lost entry costs as much as {} of waiting.)", spoken(miss.0))
}

/// Returns entry-seconds as the total wait of the entries.
fn waited(entry_secs: f64) -> String {
    spoken(Duration::try_from_secs_f64(entry_secs.max(0.0).round()).unwrap_or(Duration::MAX))
}
