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

#[derive(Debug, Args)]
#[command(
    after_help = "A place is a data folder, or postgres://USER@HOST/DATABASE. The usual PG* \
    variables and ~/.pgpass apply.\nStop every Tidings process that uses one of the places first. \
    The source is not changed.\nNumbers, cursors, accounts, tokens, sessions, marks and learned \
    state stay the same. Every table is\nread back and compared. If the command is interrupted, \
    run it again: it continues."
)]
pub struct Migrate {
    /// The place of the store: a data folder, or postgres://…
    #[arg(long, value_name = "DIR|URL")]
    pub from: String,
    /// The new place, which must be empty: a data folder, or postgres://…
    #[arg(long, value_name = "DIR|URL")]
    pub to: String,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
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

/// The part of the work that a process does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunRole {
    /// Poll the feeds and serve the page. If several processes share a database, one of them polls
    /// and the others wait
    #[default]
    All,
    /// Decide and record, and let terminals poll. Needs a database and a bus
    Controller,
    /// Poll for the active controller. Needs a bus only, and no database
    Terminal,
    /// Serve the page and the APIs, and never poll. Needs a database that another process polls for
    Web,
}

impl RunRole {
    pub const fn word(self) -> &'static str {
        match self {
            RunRole::All => "all",
            RunRole::Controller => "controller",
            RunRole::Terminal => "terminal",
            RunRole::Web => "web",
        }
    }
}

/// The place of a process among several machines.
#[derive(Clone, Debug, Default, Args)]
pub struct BusArgs {
    /// The NATS servers that connect the machines: nats://HOST:4222 or tls://HOST:4222, separated
    /// by commas
    #[arg(long, value_name = "URL")]
    pub bus: Option<String>,
    /// The name of this process among the machines
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The region in which this process stands
    #[arg(long, value_name = "NAME")]
    pub region: Option<String>,
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
