//! `tidings lab`: replays traces, measures and compares. The crate `lab` calculates; this module
//! opens files and prints results.

mod budget;
mod contender;
mod experiment;
mod export_trace;
pub mod files;
mod history;
mod outlook;
mod progress;
mod quality;
pub mod report;
mod run;
mod stats;
mod synth;
mod table;
mod tables;
mod trace_documents;
mod wanted;
mod what_if;

pub use outlook::outlook;

use std::time::Duration;

use feed::Time;
use lab::{Phases, World};

use crate::args::lab::{LabCommand, TableCommand};
use crate::error::{CliError, input_error};

pub fn run(command: LabCommand) -> Result<(), CliError> {
    match command {
        LabCommand::Run(args) => run::run(&args),
        LabCommand::Budget(args) => budget::run(&args),
        LabCommand::Table(TableCommand::TwoSteps { seeds, json }) => table::two_steps(seeds, json),
        LabCommand::Quality(args) => quality::run(&args),
        LabCommand::Stats { traces, json } => stats::run(&traces, json),
        LabCommand::Experiment(args) => experiment::run(&args),
        LabCommand::Synth(args) => synth::run(&args),
        LabCommand::ExportTrace(args) => export_trace::run(&args),
        LabCommand::WhatIf(args) => what_if::run(&args),
        LabCommand::TraceDocuments(args) => trace_documents::run(&args),
    }
}

/// Returns the number of cores.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the phases of a run. Warns if the test continues after the end of the trace.
fn phases(
    world: &World,
    start: Option<Time>,
    train: Duration,
    test: Duration,
    warm_up: bool,
) -> Result<Phases, CliError> {
    let phases = Phases::over(world, start, train, test, warm_up)
        .map_err(|e| input_error(format!("--start, --train, --test: {e}")))?;
    if let Some(silent) = phases.silence(world) {
        let (silent, end) = (polling::spoken(silent), phases.end());
        eprintln!(
            "tidings: no entry comes in the last {silent} of the test, which ends at {end}; polls \
             of that time find nothing, so a shorter --train or --test says more"
        );
    }
    Ok(phases)
}
