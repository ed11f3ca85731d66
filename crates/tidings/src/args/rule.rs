//! The arguments of `tidings rule …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::whose::OwnerArgs;

#[derive(Debug, Subcommand)]
pub enum RuleCommand {
    /// Save the rule of a file; from then on it acts on new entries
    Apply {
        /// A file with one rule; `-` is standard input
        file: PathBuf,
        /// Save it switched off
        #[arg(long, conflicts_with = "past")]
        off: bool,
        /// Act on the stored entries too, without notifications
        #[arg(long)]
        past: bool,
        #[command(flatten)]
        rest: OwnerArgs,
    },
    /// Try the rule of a file on the entries of the last 30 days; change nothing
    Test {
        /// A file with one rule; `-` is standard input
        file: PathBuf,
        #[command(flatten)]
        rest: OwnerArgs,
    },
    /// List all rules, and how often each acted
    List {
        #[command(flatten)]
        rest: OwnerArgs,
    },
    /// Show one rule
    Show(OneRule),
    /// Switch a rule on
    On(OneRule),
    /// Switch a rule off; the marks that it has made stay
    Off(OneRule),
    /// Delete a rule; the marks that it has made stay
    Drop(OneRule),
}

#[derive(Debug, Args)]
pub struct OneRule {
    /// The name of the rule
    pub name: String,
    #[command(flatten)]
    pub rest: OwnerArgs,
}
