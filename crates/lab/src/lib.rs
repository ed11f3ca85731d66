//! Worlds, traces, runs and measures: where policies are tried before they meet a real site.
//!
//! No network, no database, no wall clock; chance comes from a seed, so that a run can be had
//! again. No copy of an algorithm: what is measured here is what runs live.
//!
//! # Layout
//! - [`trace`]: publication histories as CSV, read into a [`World`].
//! - [`World`]: when entries appear; [`Sight`]: what a poll shows of it.
//! - [`run()`]: one policy through one world, within [`Phases`]; what came of it is a [`Run`].
//! - [`quality`]: one figure for delay, cost and recall together.
//! - [`matching`]: the same number of polls, or the same delay, for every policy.
//! - [`budget`]: one strategy through one world, under a budget.
//! - [`cycles`]: the world of the 2steps paper and its table.
//! - [`report`]: pages, drawings and tables of all this.
//! - [`shapes`]: online estimation on days of known shape.
//! - [`experiment`]: definitions with an expectation.
//! - [`known`]: worlds whose rate is known, and how they change.
//! - [`showing`]: worlds whose entries become visible later than they claim.
//! - [`stats`]: what a trace holds.
//! - [`own`]: an instance's own recorded polls as a trace.
//! - [`synth`]: a synthetic population of feeds after the published distributions.
//! - [`Chance`]: the seeded source of chance.

pub mod budget;
mod chance;
mod comparison;
mod crew;
pub mod cycles;
mod delay;
mod exact;
pub mod experiment;
pub mod known;
pub mod matching;
mod measure;
pub mod own;
mod participation;
mod phases;
pub mod quality;
pub mod report;
mod run;
pub mod shapes;
pub mod showing;
mod sight;
pub mod stats;
pub mod synth;
pub mod trace;
mod what_if;
mod world;

pub use chance::Chance;
pub use comparison::Comparison;
pub use delay::{Delay, Quantiles};
pub use measure::{Averages, Load};
pub use participation::{ChosenStart, Participation, chosen_start};
pub use phases::{PhaseError, Phases};
pub use run::{Progress, Run, Setting, Tally, polls_of, run, run_and_tell, run_knowing};
pub use sight::Sight;
pub use what_if::{Alternative, WhatIf, what_if};
pub use world::{EntryRow, World, WorldBuilder, WorldFeed};
