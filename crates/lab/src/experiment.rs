//! Experiments: a definition with an expectation, performed over a world.
//!
//! A definition is TOML: what is asked and why, the world, the parts to run, and what must come out
//! (`expect`), one comparison each: `"mavsync entries.delay < fix:1d entries.delay"`, or with a
//! factor: `"a x <= 0.8 * b x"`. Parts with a `label` put it before their subjects:
//! `cold/mavsync`.
//!
//! It opens no file: the world is handed over, and what came out is texts.

mod definition;
mod expect;
mod parts;
mod perform;

pub use definition::{Definition, DefinitionError, WorldSource};
pub use expect::{Expectation, JudgedExpectation, Values};
pub use perform::{Performed, perform};
