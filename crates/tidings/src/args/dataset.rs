//! The arguments of `tidings dataset`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use feed::Time;

use super::InstanceArgs;

#[derive(Debug, Subcommand)]
pub enum DatasetCommand {
    /// Write the recorded polls and entries as a data set
    Export(DatasetExportArgs),
    /// Read a data set of others into an empty data folder
    Import(DatasetImportArgs),
    /// Show what the feeds are like, compared with published figures
    Stats(DatasetStatsArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "The data set is a Frictionless Data Package: CSV tables with their description, \
    checksums, README, statistics and\na report. Paused feeds and feeds with a login or a token \
    are left out. `tidings lab run --trace\nDIR/entries.csv.gz` replays it. The same store gives \
    the same bytes."
)]
pub struct DatasetExportArgs {
    /// A folder that is empty or does not exist
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[arg(long, value_enum, default_value_t = TableFormat::Gzip)]
    pub format: TableFormat,
    /// Add the documents as WARC files
    #[arg(long, conflicts_with = "pseudonymise")]
    pub raw: bool,
    /// Add one file for each feed, in the layout of the dissertation
    #[arg(long, conflicts_with = "pseudonymise")]
    pub streams: bool,
    /// Add the addresses that `discover --from` dropped: its FILE.dropped.csv
    #[arg(long, value_name = "FILE", conflicts_with = "pseudonymise")]
    pub discovery: Option<PathBuf>,
    /// Leave out titles and replace links, addresses and keys by salted digests
    #[arg(long)]
    pub pseudonymise: bool,
    /// Only the polls and entries of this month (UTC), e.g. 2026-10
    #[arg(long, value_name = "MONTH", value_parser = month)]
    pub month: Option<MonthPeriod>,
    /// The title of the data set
    #[arg(long, value_name = "TEXT", default_value = "Recorded web feeds")]
    pub title: String,
    /// The person or institution that made the data set
    #[arg(long, value_name = "NAME", default_value = "Anonymous")]
    pub creator: String,
    #[command(flatten)]
    pub place: InstanceArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Checks the checksums, then stores feeds, polls, entries and, if the data set has \
    them, the documents. All feeds\nare paused, so the command makes no request. \
    Afterwards `dataset stats`, `lab what-if` and the page\nwork on them."
)]
pub struct DatasetImportArgs {
    /// The folder of the data set
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub place: InstanceArgs,
}

/// A month in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthPeriod {
    /// Such as `2026-10`.
    pub name: String,
    pub from: Time,
    /// The start of the next month.
    pub until: Time,
}

impl MonthPeriod {
    /// Returns the month of a time.
    pub fn of(at: Time) -> Option<MonthPeriod> {
        month(at.to_string().get(..7)?).ok()
    }

    /// Returns the next month.
    pub fn next(&self) -> Option<MonthPeriod> {
        MonthPeriod::of(self.until)
    }

    pub fn contains(&self, at: Time) -> bool {
        self.from <= at && at < self.until
    }
}

/// Reads `2026-10`.
fn month(text: &str) -> Result<MonthPeriod, String> {
    let wrong = || format!("`{text}` is not a month; write it as 2026-10");
    let (year, month) = text.split_once('-').ok_or_else(wrong)?;
    let (year, month) = (year.parse::<u16>(), month.parse::<u8>());
    let (Ok(year @ 1..=9997), Ok(month @ 1..=12)) = (year, month) else { return Err(wrong()) };
    let start = |year: u16, month: u8| {
        format!("{year:04}-{month:02}-01T00:00:00Z").parse::<Time>().map_err(|_| wrong())
    };
    let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let name = format!("{year:04}-{month:02}");
    Ok(MonthPeriod { name, from: start(year, month)?, until: start(next.0, next.1)? })
}

#[derive(Debug, Args)]
pub struct DatasetStatsArgs {
    /// Read a data set instead of an instance
    #[arg(long, value_name = "DIR", conflicts_with_all = ["data", "database"])]
    pub dataset: Option<PathBuf>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    /// Write a page with tables and drawings into this folder
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub place: InstanceArgs,
}

/// The compression of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Every tool reads it
    #[value(name = "csv.gz")]
    Gzip,
    /// Smaller and faster
    #[value(name = "csv.zst")]
    Zstd,
}

impl TableFormat {
    pub const fn ending(self) -> &'static str {
        match self {
            TableFormat::Gzip => "csv.gz",
            TableFormat::Zstd => "csv.zst",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_follow_each_other() {
        let december = month("2026-12").unwrap();
        assert_eq!(december.from.to_string(), "2026-12-01T00:00:00Z");
        let january = december.next().unwrap();
        assert_eq!((january.name.as_str(), january.from), ("2027-01", december.until));
        assert!(december.contains(december.from) && !december.contains(december.until));
        assert_eq!(MonthPeriod::of(december.from), Some(december));
        assert!(month("2026-13").is_err() && month("2026").is_err() && month("2026-x").is_err());
    }
}
