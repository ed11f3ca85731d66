//! `tidings lab`: replay the world, measure, compare. The lab computes; here files are opened and
//! results printed.

mod budget;
mod contender;
mod experiment;
mod export_trace;
mod files;
mod history;
mod outlook;
mod progress;
mod quality;
mod report;
mod run;
mod stats;
mod synth;
mod table;
mod tables;
mod what_if;

pub use outlook::outlook;

use crate::args::lab::{Lab, Table};
use crate::failure::Failure;

pub fn run(command: Lab) -> Result<(), Failure> {
    match command {
        Lab::Run(args) => run::run(&args),
        Lab::Budget(args) => budget::run(&args),
        Lab::Table(Table::TwoSteps { seeds, json }) => table::two_steps(seeds, json),
        Lab::Quality(args) => quality::run(&args),
        Lab::Stats { traces, json } => stats::run(&traces, json),
        Lab::Experiment(args) => experiment::run(&args),
        Lab::Synth(args) => synth::run(&args),
        Lab::ExportTrace(args) => export_trace::run(&args),
        Lab::WhatIf(args) => what_if::run(&args),
    }
}

/// As many threads as the machine has cores.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Says where a test goes on after its trace has ended.
fn tell_silence(world: &lab::World, phases: &lab::Phases) {
    if let Some(silent) = phases.silence(world) {
        let (silent, end) = (polling::spoken(silent), phases.end());
        eprintln!(
            "tidings: no entry comes in the last {silent} of the test, which ends at {end}; polls \
             of that time find nothing, so a shorter --train or --test says more"
        );
    }
}
