//! Worlds, traces, runs and measures: where policies are tried before they meet a real site.
//!
//! No network, no database, no wall clock; chance comes from a seed, so that a run can be had
//! again. No copy of an algorithm: what is measured here is what runs live.
//!
//! # Layout
//! - [`trace`]: publication histories as CSV, read into a [`World`].
//! - [`World`]: when entries appear; [`Sight`]: what a poll shows of it.
//! - [`synth`]: a synthetic population of feeds after the published distributions.
//! - [`Chance`]: the seeded source of chance.

mod chance;
mod exact;
mod sight;
pub mod synth;
pub mod trace;
mod world;

pub use chance::Chance;
pub use sight::Sight;
pub use world::{EntryRow, World, WorldBuilder, WorldFeed};
