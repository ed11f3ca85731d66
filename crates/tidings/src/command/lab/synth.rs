//! `tidings lab synth`: draws a population of feeds from a seed and writes it as a trace.

use lab::world::synth::{ClaimErrors, EntryTopics, Population, PopulationSpec};

use super::files::Output;
use crate::args::lab::SynthArgs;
use crate::error::{CliError, failed, input_error};

/// A population of this size is drawn in memory: about a thousand bytes for each feed and day.
const FEEDS_MAX: usize = 1_000_000;
/// Ten years; longer than any recorded trace.
const DAYS_MAX: u16 = 3660;

pub fn run(args: &SynthArgs) -> Result<(), CliError> {
    if args.feeds == 0 || args.feeds > FEEDS_MAX || args.days == 0 || args.days > DAYS_MAX {
        return Err(input_error(format!(
            "--feeds {} --days {}: 1 to {FEEDS_MAX} feeds and 1 to {DAYS_MAX} days can be drawn",
            args.feeds, args.days,
        )));
    }
    let spec =
        PopulationSpec { seed: args.seed, feeds: args.feeds, start: args.start, days: args.days };
    let appearing = ClaimErrors { late_percent: args.late, rewritten_percent: args.rewritten };
    let population = Population::draw(&spec).with_claim_errors(args.seed, &appearing);
    let mut out = Output::create(&args.out)?;
    let shown = args.out.display();
    let written = match args.topics {
        true => EntryTopics::draw(&population, args.seed).write_csv(&population, &mut out),
        false => population.write_csv(&mut out),
    };
    written.map_err(|e| failed(format!("{shown}: cannot be written: {e}")))?;
    out.finish(&args.out)?;
    let entries: usize = population.feeds.iter().map(|feed| feed.times.len()).sum();
    eprintln!(
        "{} feeds, {entries} entries; those before {} fill the first windows: replay them with \
         --start {}",
        population.feeds.len(),
        args.start,
        args.start,
    );
    Ok(())
}
