//! What the crate promises, tested through what a caller can reach.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may stop")]

mod catalog;
mod conditions;
mod documentation;
mod faults;
mod many;
mod plans;
mod sample;
mod scripts;
mod sources;
mod statements;
mod states;
mod trials;
