//! The parts that a definition may ask for.

use std::time::Duration;

use feed::Time;
use polling::budget::{Estimator, Spender};
use serde::Deserialize;

use super::reading::{
    day, duration, durations, estimators, fortnight, four_weeks, hour, minute, moment, ones,
    spenders, ten_minutes, twelve, twenty_days, two_ones, week, word,
};
use crate::shapes::DayShape;
use crate::world::visibility::Visibility;

/// Policies compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPart {
    #[serde(default)]
    pub label: String,
    pub policies: Vec<String>,
    #[serde(default = "week", deserialize_with = "duration")]
    pub train: Duration,
    #[serde(default = "twenty_days", deserialize_with = "duration")]
    pub test: Duration,
    #[serde(default)]
    pub warm_up: bool,
    #[serde(default = "minute", deserialize_with = "duration")]
    pub alpha: Duration,
    #[serde(default = "four_weeks", deserialize_with = "duration")]
    pub beta: Duration,
    #[serde(default = "hour", deserialize_with = "duration")]
    pub eta: Duration,
    #[serde(default)]
    pub hints: HintsWord,
    #[serde(default = "ones")]
    pub weights: [f64; 3],
    #[serde(default = "two_ones")]
    pub mode_weights: [f64; 2],
    /// All spend as many polls as this policy, where they have a free parameter.
    pub match_polls: Option<String>,
    /// The same for the mean delay of entries.
    pub match_delay: Option<String>,
    /// One table instead of a whole report.
    #[serde(default)]
    pub brief: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HintsWord {
    #[default]
    None,
    Lower,
    Exact,
}

/// Strategies compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetPart {
    #[serde(default)]
    pub label: String,
    #[serde(deserialize_with = "spenders")]
    pub strategies: Vec<Spender>,
    pub polls: usize,
    /// Where training begins, where it is not the world's start: phases of several lengths can
    /// then end on the same day.
    #[serde(default, deserialize_with = "moment")]
    pub start: Option<Time>,
    #[serde(default = "day", deserialize_with = "duration")]
    pub per: Duration,
    #[serde(deserialize_with = "word")]
    pub estimator: Estimator,
    #[serde(default = "ten_minutes", deserialize_with = "duration")]
    pub cycle: Duration,
    #[serde(default = "fortnight", deserialize_with = "duration")]
    pub train: Duration,
    #[serde(default = "twenty_days", deserialize_with = "duration")]
    pub test: Duration,
    #[serde(default)]
    pub true_counts: bool,
}

/// Strategies under several budgets: a curve each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetsPart {
    #[serde(default)]
    pub label: String,
    #[serde(deserialize_with = "spenders")]
    pub strategies: Vec<Spender>,
    #[serde(deserialize_with = "estimators")]
    pub estimators: Vec<Estimator>,
    /// Looks a day per feed, on average.
    pub looks: Vec<f64>,
    #[serde(default = "ten_minutes", deserialize_with = "duration")]
    pub cycle: Duration,
    #[serde(default = "fortnight", deserialize_with = "duration")]
    pub train: Duration,
    #[serde(default = "twenty_days", deserialize_with = "duration")]
    pub test: Duration,
    #[serde(default)]
    pub true_counts: bool,
    /// Only feeds whose day has this shape in the training phase.
    pub shape: Option<DayShape>,
    /// Only feeds with more entries a day than this in the training phase.
    #[serde(default)]
    pub above_per_day: f64,
}

/// Strategies that learned for several lengths of time: a curve each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningPart {
    #[serde(default)]
    pub label: String,
    #[serde(deserialize_with = "spenders")]
    pub strategies: Vec<Spender>,
    #[serde(deserialize_with = "word")]
    pub estimator: Estimator,
    /// Looks a day per feed, on average.
    pub looks: f64,
    /// Every phase of learning begins so long before the same test, which follows the longest.
    #[serde(deserialize_with = "durations")]
    pub train: Vec<Duration>,
    #[serde(default = "ten_minutes", deserialize_with = "duration")]
    pub cycle: Duration,
    #[serde(default = "twenty_days", deserialize_with = "duration")]
    pub test: Duration,
}

/// Whether feeds keep their rates, and which days they share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HabitsPart {
    /// How long a rate is measured.
    #[serde(default = "fortnight", deserialize_with = "duration")]
    pub span: Duration,
    /// How much later it is measured again.
    #[serde(deserialize_with = "durations")]
    pub later: Vec<Duration>,
    /// How many profiles of the day are looked for.
    #[serde(default = "twelve")]
    pub profiles: usize,
}

/// The intervals of single feeds over time, and the polls of the active and of the slow ones.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrajectoriesPart {
    #[serde(default)]
    pub label: String,
    pub policies: Vec<String>,
    /// Feeds with at least so many entries a day in the test are active.
    pub active_from: f64,
    /// Feeds with at most so many are slow.
    pub slow_until: f64,
    #[serde(default = "week", deserialize_with = "duration")]
    pub train: Duration,
    #[serde(default = "twenty_days", deserialize_with = "duration")]
    pub test: Duration,
}

/// The world of the 2steps paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CyclesPart {
    pub seeds: u64,
    /// Also completeness at these budgets, and τ from these starts.
    #[serde(default)]
    pub budgets: Vec<usize>,
    #[serde(default)]
    pub tau_starts: Vec<f64>,
    /// Also how much of what a source publishes is still shown while nobody reads it.
    pub divergence: Option<Divergence>,
}

/// A source that is left unread.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Divergence {
    /// Entries a cycle.
    pub rate: f64,
    /// The share of them that is relevant.
    pub selectivity: f64,
    pub cycles: u32,
}

/// Estimation on days of known shape.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapesPart {
    pub seed: u64,
    /// Averages between two looks, in minutes.
    pub minutes: Vec<u32>,
    /// The smoothing with which a change of behaviour is followed.
    pub smoothing: f64,
}

/// A policy beside the same rule with the true rate, at the polls of a rival.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OraclePart {
    pub seed: u64,
    pub feeds: usize,
    pub rival: String,
    #[serde(default = "four_weeks", deserialize_with = "duration")]
    pub train: Duration,
    #[serde(default = "four_weeks", deserialize_with = "duration")]
    pub test: Duration,
}

/// Policies after all feeds of a known world changed their behaviour.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangesPart {
    pub seed: u64,
    pub feeds: usize,
    pub policies: Vec<String>,
}

/// A policy where entries become visible later than they claim, at the polls of a rival.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowingPart {
    pub seed: u64,
    /// Which kinds of lateness; all of them where nothing is said.
    #[serde(default = "every_kind")]
    pub kinds: Vec<Visibility>,
    pub rival: String,
    #[serde(default = "week", deserialize_with = "duration")]
    pub train: Duration,
    #[serde(default = "twenty_days", deserialize_with = "duration")]
    pub test: Duration,
}

fn every_kind() -> Vec<Visibility> {
    Visibility::ALL.to_vec()
}
