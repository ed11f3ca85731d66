//! Worlds, traces, runs and measures: where policies are tried before they meet a real site.
//!
//! No network, no database, no wall clock; chance comes from a seed, so that a run can be had
//! again. No copy of an algorithm: what is measured here is what runs live.
//!
//! # Layout
//! - [`trace`]: publication histories as CSV, read into a [`World`].
//! - [`World`]: when entries appear; [`PolledFeed`]: what a poll shows of it.
//! - [`run()`]: one policy through one world, within [`Phases`]; what came of it is a [`PolicyRun`].
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
pub mod cycles;
mod exact;
pub mod experiment;
pub mod measure;
mod parallel;
pub mod report;
pub mod run;
pub mod shapes;
mod what_if;
pub mod world;

pub use chance::Chance;
pub use measure::{Averages, Delay, Quantiles, SiteLoad};
pub use run::{
    ChosenStart, FeedTally, Participation, PhaseError, Phases, PolicyComparison, PolicyRun,
    RunProgress, Setting, chosen_start, polls_of, run, run_and_tell, run_knowing,
};
pub use what_if::{Alternative, WhatIf, what_if};
pub use world::{PolledFeed, TraceRow, World, WorldBuilder, WorldFeed};
