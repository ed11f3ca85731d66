//! `tidings config`: prints the reference of the configuration file, or checks a file.

use crate::args::NetworkArgs;
use crate::args::operate::ConfigCommand;
use crate::config::{self, reference};
use crate::error::CliError;
use crate::output::print_line;

pub fn run(command: ConfigCommand) -> Result<(), CliError> {
    match command {
        ConfigCommand::Reference => print_line(reference::markdown().trim_end()),
        ConfigCommand::Check { place } => {
            let config = config::read(&place, &NetworkArgs::default())?;
            print_line(&format!("{}: sound", config.origin))
        }
    }
}
