//! The lab: simulates policies and strategies over recorded or synthetic feeds.
//!
//! The lab uses no network, no database and no wall clock. Random numbers come from a seed, so a
//! run can be repeated. The lab does not copy algorithms: it runs the code that runs live.
//!
//! # Layout
//! - [`world`]: when the entries of feeds appear; [`PolledFeed`] polls them. Worlds come from
//!   traces ([`world::trace`]), recorded polls ([`world::history`]), synthetic populations
//!   ([`world::synth`]) and feeds with known rates ([`world::known_rates`]).
//! - [`run()`]: one policy through one world, within [`Phases`]; the result is a [`PolicyRun`].
//!   [`run::calibration`] sets every policy to the same polls or the same delay.
//! - [`budget`]: one strategy through one world, under a budget.
//! - [`measure`]: averages, delays, and one figure for delay, cost and recall.
//! - [`report`]: pages, drawings and tables.
//! - [`cycles`], [`shapes`]: the experiments of two papers.
//! - [`experiment`]: definitions with an expectation.
//! - [`what_if()`]: other policies on the history of an instance, in words.
//! - [`Chance`]: the seeded random number generator.

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
    ChosenStart, FeedTally, LearnsFrom, Participation, PhaseError, Phases, PolicyComparison,
    PolicyRun, RunProgress, Setting, chosen_start, polls_of, run, run_and_tell, run_knowing,
};
pub use what_if::{Alternative, WhatIf, what_if};
pub use world::{EntryRelevance, PolledFeed, TraceRow, World, WorldBuilder, WorldFeed};
