//! The file format of definitions. Unknown keys are refused: a misspelt one would be an experiment
//! other than the one that was meant.

use std::path::PathBuf;
use std::time::Duration;

use feed::Time;
use polling::budget::{Estimator, Strategy};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::Expectation;
use crate::synth;

/// One experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub title: String,
    /// The document and its tables or figures.
    pub source: String,
    /// What is asked, and what the answer means.
    pub analysis: String,
    world: Option<WorldTable>,
    #[serde(default)]
    pub run: Vec<RunPart>,
    #[serde(default)]
    pub budget: Vec<BudgetPart>,
    #[serde(default)]
    pub cycles: Vec<CyclesPart>,
    #[serde(default)]
    pub shapes: Vec<ShapesPart>,
    #[serde(default)]
    pub stats: bool,
    #[serde(default)]
    pub expect: Vec<Expectation>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorldTable {
    #[serde(default)]
    traces: Vec<PathBuf>,
    synth: Option<SynthTable>,
    #[serde(default = "window")]
    window: u32,
    #[serde(default, deserialize_with = "moment")]
    start: Option<Time>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SynthTable {
    seed: u64,
    feeds: usize,
    days: u16,
}

/// Where the world comes from.
#[derive(Clone, Debug)]
pub enum WorldSource {
    /// Files, as the definition names them: relative to itself.
    Traces(Vec<PathBuf>),
    Synth(synth::Spec),
}

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
    #[serde(deserialize_with = "words")]
    pub strategies: Vec<Strategy>,
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

/// A definition that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct DefinitionError {
    pub line: usize,
    pub column: usize,
    message: String,
}

impl Definition {
    pub fn read(text: &str) -> Result<Definition, DefinitionError> {
        toml::from_str(text).map_err(|e| {
            let before = &text[..e.span().map_or(0, |span| span.start).min(text.len())];
            let line_start = before.rfind('\n').map_or(0, |i| i + 1);
            DefinitionError {
                line: before.matches('\n').count() + 1,
                column: before.len() - line_start + 1,
                message: e.message().to_owned(),
            }
        })
    }

    /// Where the world comes from; `None` where the parts bring their own.
    pub fn world(&self) -> Option<WorldSource> {
        let world = self.world.as_ref()?;
        Some(match world.synth {
            None => WorldSource::Traces(world.traces.clone()),
            Some(SynthTable { seed, feeds, days }) => {
                let start = world.start.unwrap_or(SYNTH_START);
                WorldSource::Synth(synth::Spec { seed, feeds, start, days })
            }
        })
    }

    pub fn window(&self) -> u32 {
        self.world.as_ref().map_or_else(window, |world| world.window)
    }

    /// Where training begins, if the definition says so.
    pub fn start(&self) -> Option<Time> {
        let world = self.world.as_ref()?;
        world.start.or(world.synth.map(|_| SYNTH_START))
    }
}

/// The start of the published recording.
const SYNTH_START: Time = Time::from_secs(1_310_187_600);

const fn window() -> u32 {
    20
}

const fn days(n: u64) -> Duration {
    Duration::from_secs(n * 86_400)
}

const fn minute() -> Duration {
    Duration::from_secs(60)
}

const fn ten_minutes() -> Duration {
    Duration::from_secs(600)
}

const fn hour() -> Duration {
    Duration::from_secs(3600)
}

const fn day() -> Duration {
    days(1)
}

const fn week() -> Duration {
    days(7)
}

const fn fortnight() -> Duration {
    days(14)
}

const fn twenty_days() -> Duration {
    days(20)
}

const fn four_weeks() -> Duration {
    days(28)
}

const fn ones() -> [f64; 3] {
    [1.0; 3]
}

const fn two_ones() -> [f64; 2] {
    [1.0; 2]
}

fn duration<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
    polling::parse_duration(&String::deserialize(d)?).map_err(Error::custom)
}

fn moment<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Time>, D::Error> {
    let text = String::deserialize(d)?;
    let time = crate::trace::moment(&text);
    time.map(Some).ok_or_else(|| Error::custom(format!("`{text}` is not a time")))
}

fn word<'de, D: Deserializer<'de>>(d: D) -> Result<Estimator, D::Error> {
    String::deserialize(d)?.parse().map_err(Error::custom)
}

fn words<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Strategy>, D::Error> {
    let words = Vec::<String>::deserialize(d)?;
    words.iter().map(|word| word.parse().map_err(Error::custom)).collect()
}
