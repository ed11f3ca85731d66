//! `tidings query …` as the contract spells it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::{Place, duration};

#[derive(Debug, Subcommand)]
pub enum Query {
    /// Make the statements of a file stand: all of them or none (makes no request)
    Apply {
        /// A file of statements; `-` is standard input
        file: PathBuf,
        /// Also keep what the queries would have kept of entries seen in this time, such as 7d
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        past: Option<Duration>,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Say what is wrong with a file; change nothing
    Check {
        /// A file of statements; `-` is standard input
        file: PathBuf,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// List all queries
    List {
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Everything known about one query, its plan included
    Show {
        name: String,
        /// Show its secret link and the key that signs its webhooks
        #[arg(long)]
        with_secrets: bool,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// End a query; feeds that only it wanted are no longer polled
    Drop(OneQuery),
    /// Run a file against the stored entries; change nothing
    Test {
        /// A file of statements; `-` is standard input
        file: PathBuf,
        /// Entries seen in this time
        #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "7d")]
        past: Duration,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// How far each receiver of a query has come, and what it would not take
    Deliveries {
        /// The query; without it those of all are shown
        name: Option<String>,
        /// Try what was laid aside once more
        #[arg(long, requires = "name")]
        replay: bool,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Args)]
pub struct OneQuery {
    pub name: String,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: Place,
}
