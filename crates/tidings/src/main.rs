//! Tidings, the program: commands, and the configuration, read once and passed down. It contains no
//! logic.

mod access;
mod args;
mod checked_settings;
mod command;
mod config;
mod error;
mod log;
mod output;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::args::{Cli, CliCommand};
use crate::error::CliError;

/// How long the program waits for background work at its end. All changes of the command are on
/// disk by then. Only a replay for the page may still run; it takes minutes, and nobody would see
/// its result.
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

fn run(command: CliCommand) -> Result<(), CliError> {
    let runtime = tokio::runtime::Runtime::new()?;
    let ended = runtime.block_on(carried_out(command));
    runtime.shutdown_timeout(REST);
    ended
}

async fn carried_out(command: CliCommand) -> Result<(), CliError> {
    match command {
        CliCommand::Run(run) => command::run::run(run).await,
        CliCommand::Feed(feed) => command::feed::run(feed).await,
        CliCommand::Budget(budget) => command::budget::run(budget).await,
        CliCommand::Import { file, json, whose, place } => {
            command::import::run(&file, json, &whose, &place).await
        }
        CliCommand::MoveIn(args) => command::move_in::run(args).await,
        CliCommand::Export { format, with_secrets, whose, place } => {
            command::export::run(format, with_secrets, &whose, &place)
        }
        CliCommand::Entries(entries) => command::entries::run(&entries),
        CliCommand::Query(query) => command::query::run(query).await,
        CliCommand::Rule(rule) => command::rule::run(rule),
        CliCommand::Tag(tag) => command::tag::run(tag).await,
        CliCommand::Discover(discover) => command::discover::run(discover).await,
        CliCommand::Record(record) => command::record::run(record).await,
        CliCommand::Dataset(dataset) => command::dataset::run(&dataset).await,
        CliCommand::Article(page) => command::article::run(page).await,
        CliCommand::Parse { file, content_type, url, json } => {
            command::parse::run(&file, content_type.as_deref(), url.as_deref(), json)
        }
        CliCommand::User(user) => command::user::run(user),
        CliCommand::Lab(lab) => command::lab::run(lab),
        CliCommand::Backup(backup) => command::backup::run(&backup),
        CliCommand::Restore(restore) => command::restore::run(&restore),
        CliCommand::Migrate(migrate) => command::migrate::run(&migrate),
        CliCommand::Machines(machines) => command::machines::run(machines).await,
        CliCommand::Config(config) => command::config::run(config),
        CliCommand::Completions { shell } => command::manual::completions(shell),
        CliCommand::Man { out } => command::manual::man(out.as_deref()),
        CliCommand::Doctor { json, place } => command::doctor::run(json, &place).await,
    }
}
