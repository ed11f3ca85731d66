//! Runs of policies and strategies, and their measures.

mod budget;
mod calibration;
mod counted;
mod examples;
mod quality;
mod relevance;
pub mod runs;
