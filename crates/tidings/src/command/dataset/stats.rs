//! `tidings dataset stats`: the figures of an instance or of a data set, next to the published
//! ones.

use std::path::Path;

use dataset::report;
use dataset::statistics::{PopulationBuilder, PopulationStats};
use dataset::tables::{self, schema};
use store::{FeedFilter, FeedRow, Store};

use super::{files, rows};
use crate::args::dataset::DatasetStatsArgs;
use crate::command::lab::report as lab_report;
use crate::error::{CliError, input_error};
use crate::output::{print_json, print_line, spinner, table};
use crate::{access, config};

pub fn run(args: &DatasetStatsArgs) -> Result<(), CliError> {
    if let Some(folder) = &args.report {
        lab_report::check_folder(folder, false)?;
    }
    let waiting = spinner("reading");
    let population = match &args.dataset {
        Some(folder) => of_folder(folder)?,
        None => of_store(&access::read(&config::read_offline(&args.place)?)?)?,
    };
    waiting.finish_and_clear();
    if let Some(folder) = &args.report {
        let command = lab_report::command_line();
        let version = env!("CARGO_PKG_VERSION");
        lab_report::write(folder, &report::page(&population, "Population", &command, version))?;
    }
    if args.json {
        return print_json(&population);
    }
    show(&population)
}

/// Reads the figures of an instance. A feed that is paused takes part: it was recorded before.
pub fn of_store(store: &Store) -> Result<PopulationStats, CliError> {
    of_feeds(store, |_| true)
}

/// Reads the figures of the feeds for which `takes_part` holds.
pub fn of_feeds(
    store: &Store,
    takes_part: impl Fn(&FeedRow) -> bool,
) -> Result<PopulationStats, CliError> {
    let mut builder = PopulationBuilder::default();
    for row in store.feeds(&FeedFilter::default())?.iter().filter(|row| takes_part(row)) {
        add(&mut builder, &rows::read(store, row, None)?);
    }
    Ok(builder.finish())
}

/// Adds the rows of one feed.
pub fn add(builder: &mut PopulationBuilder, rows: &rows::RecordedRows) {
    builder.feed(rows.feed.clone());
    rows.polls.iter().for_each(|poll| builder.poll(poll));
    rows.entries.iter().for_each(|entry| builder.entry(entry));
    rows.misses.iter().for_each(|miss| builder.miss(miss));
}

fn of_folder(folder: &Path) -> Result<PopulationStats, CliError> {
    let mut builder = PopulationBuilder::default();
    let open = |table| {
        let found = files::open(folder, table)?;
        found.ok_or_else(|| {
            let shown = folder.display();
            input_error(format!("{shown}: the data set has no table `{}`", table.name))
        })
    };
    let wrong = |e: tables::TableError| input_error(format!("{}: {e}", folder.display()));
    tables::read("feeds", open(&schema::FEEDS)?, |row| builder.feed(row)).map_err(wrong)?;
    tables::read("polls", open(&schema::POLLS)?, |row| builder.poll(&row)).map_err(wrong)?;
    tables::read("entries", open(&schema::ENTRIES)?, |row| builder.entry(&row)).map_err(wrong)?;
    tables::read("misses", open(&schema::MISSES)?, |row| builder.miss(&row)).map_err(wrong)?;
    Ok(builder.finish())
}

fn show(population: &PopulationStats) -> Result<(), CliError> {
    for section in &population.sections {
        print_line(&format!("{} ({})", section.title, section.source))?;
        let mut rows = table(["", "here", "published"]);
        for row in report::rows(section) {
            rows.add_row(row);
        }
        print_line(&format!("{rows}\n"))?;
    }
    Ok(())
}
