//! Matching: conditions, sources, operators with a state, many queries at once, and trials.

mod conditions;
mod joins;
mod many;
mod plans;
mod scripts;
mod sources;
mod states;
mod trials;
