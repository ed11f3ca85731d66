//! Tidings, the program: commands, configuration read once and passed down. No logic lives here.

mod access;
mod args;
mod command;
mod config;
mod failure;
mod output;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::args::{Cli, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    start_log(matches!(&cli.command, Command::Run(run) if !run.once));
    match run(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let message = failure.to_string();
            if !message.is_empty() {
                eprintln!("tidings: {message}");
            }
            ExitCode::from(failure.code)
        }
    }
}

#[tokio::main]
async fn run(command: Command) -> Result<(), Failure> {
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
        Command::Doctor { json, place } => command::doctor::run(json, &place).await,
    }
}

/// Logs go to standard error; `TIDINGS_LOG` takes filters such as `debug` or `engine=debug`. A
/// command says what it has to say itself, so only the daemon logs by default.
fn start_log(daemon: bool) {
    let usual = if daemon { "info" } else { "warn" };
    let filter = std::env::var("TIDINGS_LOG").unwrap_or_else(|_| usual.to_owned());
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_new(&filter).unwrap_or_else(|_| EnvFilter::new(usual)))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .init();
}
