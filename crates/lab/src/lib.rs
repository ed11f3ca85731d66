//! Worlds and traces: where policies are tried before they meet a real site.
//!
//! No network, no database, no wall clock; chance comes from a seed, so that a run can be had
//! again. No copy of an algorithm: what is measured here is what runs live.
//!
//! # Layout
//! - [`synth`]: a synthetic population of feeds after the published distributions.
//! - [`Chance`]: the seeded source of chance.

mod chance;
mod exact;
pub mod synth;

pub use chance::Chance;
