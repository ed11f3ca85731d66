//! The arguments of the operators' commands: backup, restore and configuration.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::InstanceArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "The copy is one file: feeds, entries, polls, queries and settings, as they \
    were at one moment. It contains\nthe secrets in feed URLs too, so only its owner can read it. \
    It does not contain the configuration\nor the files that queries deliver to."
)]
pub struct Backup {
    /// The file of the copy; `-` is standard output
    pub file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: InstanceArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "The daemon must not run on this folder. With --force the old store \
    is kept as\ntidings.db.replaced; remove it when the new one works.")]
pub struct Restore {
    /// A copy made by `tidings backup`; `-` is standard input
    pub file: PathBuf,
    /// Replace the store that is in the data folder
    #[arg(long)]
    pub force: bool,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: InstanceArgs,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print all keys of the configuration file, as Markdown
    Reference,
    /// Check the configuration file
    Check {
        #[command(flatten)]
        place: InstanceArgs,
    },
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object a line, for programs
    Json,
}
