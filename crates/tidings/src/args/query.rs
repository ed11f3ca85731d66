//! The arguments of `tidings query …`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::whose::WhoseArgs;
use super::{InstanceArgs, duration};

#[derive(Debug, Subcommand)]
pub enum QueryCommand {
    /// Apply the statements of a file: all or none (makes no request)
    Apply {
        /// A file of statements; `-` is standard input
        file: PathBuf,
        /// Also search stored entries seen in this time, e.g. 7d
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        past: Option<Duration>,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        whose: WhoseArgs,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Check a file; change nothing
    Check {
        /// A file of statements; `-` is standard input
        file: PathBuf,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        whose: WhoseArgs,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// List all queries
    List {
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        whose: WhoseArgs,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Show everything about one query, with its plan
    Show {
        /// The name of the query
        name: String,
        /// Show its secret link and the key that signs its webhooks
        #[arg(long)]
        with_secrets: bool,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        whose: WhoseArgs,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Delete a query; feeds that only this query uses are no longer polled
    Drop(OneQuery),
    /// Run a file against the stored entries; change nothing
    Test {
        /// A file of statements; `-` is standard input
        file: PathBuf,
        /// Search the entries seen in this time
        #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "7d")]
        past: Duration,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        whose: WhoseArgs,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Show the progress and the dead letters of receivers
    Deliveries {
        /// The query; without it all queries are shown
        name: Option<String>,
        /// Send its dead letters again
        #[arg(long, requires = "name")]
        replay: bool,
        /// Print JSON, for programs
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        whose: WhoseArgs,
        #[command(flatten)]
        place: InstanceArgs,
    },
}

#[derive(Debug, Args)]
pub struct OneQuery {
    /// The name of the query
    pub name: String,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub whose: WhoseArgs,
    #[command(flatten)]
    pub place: InstanceArgs,
}
