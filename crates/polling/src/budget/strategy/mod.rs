//! The names of strategies and estimators, as the contract writes them.
//!
//! ```
//! use polling::budget::{Estimator, Strategy};
//! assert_eq!("two-steps".parse(), Ok(Strategy::TwoSteps));
//! assert_eq!(Estimator::Periodic.to_string(), "periodic");
//! ```

pub mod crossings;
mod saturation;
mod spender;
pub mod top_k_expected;
pub mod top_k_utility;
pub mod two_steps;
pub mod uniform;

use std::fmt;
use std::str::FromStr;

use crate::model::smoothing::Smoothing;
use crate::model::{Model, ModelKind};
use crate::spec::SpecError;
use crate::spec::{KnownName, unknown};

pub use spender::{Miss, ProfileChoice, Spender};

/// The rule that spends a budget over all feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Uniform,
    OnlySat,
    OnlyTau,
    TopKUtility,
    TwoSteps,
    MinDelay,
    MinDelayAllocation,
    MinDelaySchedule,
    MinMiss,
    CrawlFreshness,
    CrawlAge,
    LambdaCrawl,
    Tide,
    TopKExpected,
}

impl Strategy {
    pub const ALL: [Strategy; 14] = [
        Strategy::Uniform,
        Strategy::OnlySat,
        Strategy::OnlyTau,
        Strategy::TopKUtility,
        Strategy::TwoSteps,
        Strategy::MinDelay,
        Strategy::MinDelayAllocation,
        Strategy::MinDelaySchedule,
        Strategy::MinMiss,
        Strategy::CrawlFreshness,
        Strategy::CrawlAge,
        Strategy::LambdaCrawl,
        Strategy::Tide,
        Strategy::TopKExpected,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Strategy::Uniform => "uniform",
            Strategy::OnlySat => "only-sat",
            Strategy::OnlyTau => "only-tau",
            Strategy::TopKUtility => "top-k-utility",
            Strategy::TwoSteps => "two-steps",
            Strategy::MinDelay => "min-delay",
            Strategy::MinDelayAllocation => "min-delay-allocation",
            Strategy::MinDelaySchedule => "min-delay-schedule",
            Strategy::MinMiss => "min-miss",
            Strategy::CrawlFreshness => "crawl-freshness",
            Strategy::CrawlAge => "crawl-age",
            Strategy::LambdaCrawl => "lambda-crawl",
            Strategy::Tide => "tide",
            Strategy::TopKExpected => "top-k-expected",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Strategy {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Strategy, SpecError> {
        let found = Strategy::ALL.into_iter().find(|s| s.word() == text);
        found.ok_or_else(|| unknown("strategy", text, &names(Strategy::ALL.map(Strategy::word))))
    }
}

/// The model that a strategy uses for its feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// The true values, which only the lab has.
    Oracle,
    SingleVariable,
    Periodic,
    Histogram,
    /// Learned in training, then frozen.
    Offline,
    /// The model of the policy `tide`.
    Tide,
    /// The total of a day, and the shares of its hours.
    DailyTotal,
}

impl Estimator {
    pub const ALL: [Estimator; 7] = [
        Estimator::Oracle,
        Estimator::SingleVariable,
        Estimator::Periodic,
        Estimator::Histogram,
        Estimator::Offline,
        Estimator::Tide,
        Estimator::DailyTotal,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Estimator::Oracle => "oracle",
            Estimator::SingleVariable => "single-variable",
            Estimator::Periodic => "periodic",
            Estimator::Histogram => "histogram",
            Estimator::Offline => "offline",
            Estimator::Tide => "tide",
            Estimator::DailyTotal => "daily-total",
        }
    }

    /// Returns the model to start with; `None` for the oracle.
    pub fn start(self) -> Option<Model> {
        match self {
            Estimator::Oracle => None,
            Estimator::SingleVariable => Some(Model::single_variable(Smoothing::adjusting())),
            Estimator::Periodic => Some(Model::daily(Smoothing::adjusting())),
            Estimator::Histogram => Some(Model::sliding()),
            Estimator::Offline => Some(ModelKind::Offline.start()),
            Estimator::Tide => Some(ModelKind::Tide.start()),
            Estimator::DailyTotal => Some(ModelKind::DailyTotal.start()),
        }
    }
}

impl fmt::Display for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Estimator {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Estimator, SpecError> {
        let found = Estimator::ALL.into_iter().find(|e| e.word() == text);
        found.ok_or_else(|| unknown("estimator", text, &names(Estimator::ALL.map(Estimator::word))))
    }
}

fn names<const N: usize>(words: [&'static str; N]) -> [KnownName; N] {
    words.map(|name| KnownName { name, example: name, needs: "no parameter" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_shown_and_a_slip_is_named() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse::<Strategy>(), Ok(strategy));
        }
        for estimator in Estimator::ALL {
            assert_eq!(estimator.to_string().parse::<Estimator>(), Ok(estimator));
        }
        let error = "two-step".parse::<Strategy>().unwrap_err().to_string();
        assert!(error.contains("unknown strategy `two-step`; did you mean `two-steps`"), "{error}");
    }
}
