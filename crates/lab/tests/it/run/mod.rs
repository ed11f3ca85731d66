//! Runs of policies and strategies, and their measures.

mod budget;
mod calibration;
mod counted;
mod examples;
mod quality;
pub mod runs;
