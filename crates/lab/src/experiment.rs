//! Experiments: a definition with expectations, performed over a world.
//!
//! A definition is a TOML file: the question, the world, the parts to run, and expectations. Each
//! expectation (`expect`) is one comparison: `"mavsync entries.delay < fix:1d entries.delay"`, or
//! with a factor: `"a x <= 0.8 * b x"`. A part with a `label` puts it before its subjects:
//! `cold/mavsync`.
//!
//! Input: a definition and its world. Output: texts. This module does not open files.

mod definition;
mod expect;
mod parts;
mod perform;

pub use definition::{Definition, DefinitionError, WorldSource};
pub use expect::{Expectation, JudgedExpectation, Values};
pub use perform::{ExperimentResult, perform};
