//! `tidings lab`: replay the world, measure, compare. The lab computes; here files are opened and
//! results printed.

mod files;
mod progress;
mod quality;
mod run;
mod stats;
mod synth;
mod tables;

use crate::args::lab::Lab;
use crate::failure::Failure;

pub fn run(command: Lab) -> Result<(), Failure> {
    match command {
        Lab::Run(args) => run::run(&args),
        Lab::Quality(args) => quality::run(&args),
        Lab::Stats { traces, json } => stats::run(&traces, json),
        Lab::Synth(args) => synth::run(&args),
    }
}
