//! Tidings, the program: commands, configuration read once and passed down. No logic lives here.

mod access;
mod args;
mod command;
mod config;
mod failure;
mod judged;
mod log;
mod output;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::failure::Failure;

/// When a command has ended, all that it changed is on disk. What may still run then is a replay
/// behind the page, which takes minutes and which nobody will look at.
const REST: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let cli = Cli::parse();
    log::start(&cli.command);
    match run(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let message = failure.to_string();
            if !message.is_empty() {
                output::complain(&format!("tidings: {message}"));
            }
            ExitCode::from(failure.code)
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    let runtime = tokio::runtime::Runtime::new()?;
    let ended = runtime.block_on(carried_out(command));
    runtime.shutdown_timeout(REST);
    ended
}

async fn carried_out(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(run) => command::run::run(run).await,
        Command::Feed(feed) => command::feed::run(feed).await,
        Command::Budget(budget) => command::budget::run(budget).await,
        Command::Import { file, json, place } => command::import::run(&file, json, &place).await,
        Command::Export { format, with_secrets, place } => {
            command::export::run(format, with_secrets, &place)
        }
        Command::Entries(entries) => command::entries::run(&entries),
        Command::Query(query) => command::query::run(query).await,
        Command::Discover { urls, json, allow_private, config } => {
            command::discover::run(&urls, json, allow_private, config).await
        }
        Command::Parse { file, content_type, url, json } => {
            command::parse::run(&file, content_type.as_deref(), url.as_deref(), json)
        }
        Command::User(user) => command::user::run(user),
        Command::Lab(lab) => command::lab::run(lab),
        Command::Backup(backup) => command::backup::run(&backup),
        Command::Restore(restore) => command::restore::run(&restore),
        Command::Config(config) => command::config::run(config),
        Command::Completions { shell } => command::manual::completions(shell),
        Command::Man { out } => command::manual::man(out.as_deref()),
        Command::Doctor { json, place } => command::doctor::run(json, &place).await,
    }
}
