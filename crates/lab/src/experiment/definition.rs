//! The file format of definitions. Unknown keys are refused, because a misspelt key would change
//! the experiment.

mod parts;
mod reading;

use std::path::PathBuf;

use feed::Time;
use serde::Deserialize;

use super::Expectation;
use crate::world::synth;
pub use parts::{
    BudgetPart, BudgetsPart, ChangesPart, CyclesPart, Divergence, HabitsPart, HintsWord,
    LearningPart, OraclePart, RunPart, ShapesPart, ShowingPart, TrajectoriesPart,
};
use reading::{moment, window};

/// One experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub title: String,
    /// The document and its tables or figures.
    pub source: String,
    /// The question, and the meaning of the answer.
    pub analysis: String,
    world: Option<WorldTable>,
    #[serde(default)]
    pub run: Vec<RunPart>,
    #[serde(default)]
    pub trajectories: Vec<TrajectoriesPart>,
    #[serde(default)]
    pub budget: Vec<BudgetPart>,
    #[serde(default)]
    pub budgets: Vec<BudgetsPart>,
    #[serde(default)]
    pub learning: Vec<LearningPart>,
    #[serde(default)]
    pub habits: Vec<HabitsPart>,
    #[serde(default)]
    pub cycles: Vec<CyclesPart>,
    #[serde(default)]
    pub oracle: Vec<OraclePart>,
    #[serde(default)]
    pub changes: Vec<ChangesPart>,
    #[serde(default)]
    pub showing: Vec<ShowingPart>,
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
    /// Smaller traces, used if `traces` do not exist.
    #[serde(default)]
    sample: Vec<PathBuf>,
    /// The content and origin of `traces`.
    origin: Option<String>,
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

/// The source of a world.
#[derive(Clone, Debug)]
pub enum WorldSource {
    /// Files, relative to the definition.
    Traces {
        files: Vec<PathBuf>,
        sample: Vec<PathBuf>,
        origin: Option<String>,
    },
    Synth(synth::PopulationSpec),
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

    /// Returns the source of the world; `None` if the parts have their own.
    pub fn world(&self) -> Option<WorldSource> {
        let world = self.world.as_ref()?;
        Some(match world.synth {
            None => WorldSource::Traces {
                files: world.traces.clone(),
                sample: world.sample.clone(),
                origin: world.origin.clone(),
            },
            Some(SynthTable { seed, feeds, days }) => {
                let start = world.start.unwrap_or(SYNTH_START);
                WorldSource::Synth(synth::PopulationSpec { seed, feeds, start, days })
            }
        })
    }

    pub fn window(&self) -> u32 {
        self.world.as_ref().map_or_else(window, |world| world.window)
    }

    /// Returns the start of training, if the definition names it.
    pub fn start(&self) -> Option<Time> {
        let world = self.world.as_ref()?;
        world.start.or(world.synth.map(|_| SYNTH_START))
    }
}

/// The start of the published recording.
const SYNTH_START: Time = Time::from_secs(1_310_187_600);
