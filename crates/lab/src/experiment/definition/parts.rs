//! The parts that a definition may contain.

use std::time::Duration;

use feed::Time;
use polling::budget::{Estimator, LearnShare, Spender};
use serde::Deserialize;

use super::reading::{
    day, duration, durations, estimators, fortnight, four_weeks, hour, minute, moment, ones,
    spenders, ten_minutes, twelve, twenty_days, two_ones, week, word, words,
};
use crate::budget::BudgetOptions;
use crate::shapes::DayShape;
use crate::world::visibility_lag::SimulatedLag;

/// A comparison of policies.
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
    /// Policies with a free parameter make as many polls as this policy.
    pub match_polls: Option<String>,
    /// Policies with a free parameter reach the mean delay of this policy.
    pub match_delay: Option<String>,
    /// Whether to show one table instead of a whole report.
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

/// A comparison of strategies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetPart {
    #[serde(default)]
    pub label: String,
    #[serde(deserialize_with = "spenders")]
    pub strategies: Vec<Spender>,
    pub polls: usize,
    /// The start of training, if it differs from that of the world. With it, phases of several
    /// lengths can end on the same day.
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
    /// The number of readers of the most read feed. The others have fewer, after Zipf's law.
    #[serde(default)]
    pub readers: Option<u32>,
    /// Settings in which a reproduction differs from live use.
    #[serde(default)]
    pub options: BudgetOptions,
}

/// Strategies under several budgets, one curve each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetsPart {
    #[serde(default)]
    pub label: String,
    #[serde(deserialize_with = "spenders")]
    pub strategies: Vec<Spender>,
    #[serde(deserialize_with = "estimators")]
    pub estimators: Vec<Estimator>,
    /// Polls per feed and day, on average.
    pub looks: Vec<f64>,
    #[serde(default = "ten_minutes", deserialize_with = "duration")]
    pub cycle: Duration,
    #[serde(default = "fortnight", deserialize_with = "duration")]
    pub train: Duration,
    #[serde(default = "twenty_days", deserialize_with = "duration")]
    pub test: Duration,
    #[serde(default)]
    pub true_counts: bool,
    /// Settings in which a reproduction differs from live use.
    #[serde(default)]
    pub options: BudgetOptions,
    /// Learning shares to compare, from a cold start: with them the budget is also spent in the
    /// training phase. One curve for each share.
    #[serde(default, deserialize_with = "words")]
    pub learn: Vec<LearnShare>,
    /// Restricts to feeds whose day has this shape in the training phase.
    pub shape: Option<DayShape>,
    /// Restricts to feeds with more entries per day than this in the training phase.
    #[serde(default)]
    pub above_per_day: f64,
}

/// Strategies after several lengths of training, one curve each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningPart {
    #[serde(default)]
    pub label: String,
    #[serde(deserialize_with = "spenders")]
    pub strategies: Vec<Spender>,
    #[serde(deserialize_with = "word")]
    pub estimator: Estimator,
    /// Polls per feed and day, on average.
    pub looks: f64,
    /// The lengths of training. All end at the same test, which follows the longest.
    #[serde(deserialize_with = "durations")]
    pub train: Vec<Duration>,
    #[serde(default = "ten_minutes", deserialize_with = "duration")]
    pub cycle: Duration,
    #[serde(default = "twenty_days", deserialize_with = "duration")]
    pub test: Duration,
    /// Settings in which a reproduction differs from live use.
    #[serde(default)]
    pub options: BudgetOptions,
}

/// The stability of rates, and the profiles of days that feeds share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HabitsPart {
    /// The time over which a rate is measured.
    #[serde(default = "fortnight", deserialize_with = "duration")]
    pub span: Duration,
    /// The time until it is measured again.
    #[serde(deserialize_with = "durations")]
    pub later: Vec<Duration>,
    /// The number of day profiles to find.
    #[serde(default = "twelve")]
    pub profiles: usize,
    /// Whether to draw the volume by week and by two hours, and the distribution of rates.
    #[serde(default)]
    pub volume: bool,
}

/// The intervals of single feeds over time, and the polls of active and slow feeds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrajectoriesPart {
    #[serde(default)]
    pub label: String,
    pub policies: Vec<String>,
    /// Feeds with at least this many entries per day in the test are active.
    pub active_from: f64,
    /// Feeds with at most this many entries per day are slow.
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
    /// Adds completeness at these budgets, and τ from these starts.
    #[serde(default)]
    pub budgets: Vec<usize>,
    #[serde(default)]
    pub tau_starts: Vec<f64>,
    /// Adds the share of published entries that are still shown while nobody reads.
    pub divergence: Option<Divergence>,
}

/// A source that nobody reads.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Divergence {
    /// Entries per cycle.
    pub rate: f64,
    /// The share of relevant entries.
    pub selectivity: f64,
    pub cycles: u32,
}

/// Online estimation on days of known shape.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapesPart {
    pub seed: u64,
    /// Average intervals between two polls, in minutes.
    pub minutes: Vec<u32>,
    /// The smoothing for following a change of behaviour.
    pub smoothing: f64,
}

/// A policy compared with the same policy at the true rate, at the polls of a rival.
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

/// Policies after all feeds of a known world change their behaviour.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangesPart {
    pub seed: u64,
    pub feeds: usize,
    pub policies: Vec<String>,
}

/// A policy on entries with a visibility lag, at the polls of a rival.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowingPart {
    pub seed: u64,
    /// The kinds of visibility lag; all by default.
    #[serde(default = "every_kind")]
    pub kinds: Vec<SimulatedLag>,
    pub rival: String,
    #[serde(default = "week", deserialize_with = "duration")]
    pub train: Duration,
    #[serde(default = "twenty_days", deserialize_with = "duration")]
    pub test: Duration,
}

fn every_kind() -> Vec<SimulatedLag> {
    SimulatedLag::ALL.to_vec()
}
