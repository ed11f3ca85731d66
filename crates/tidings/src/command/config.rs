//! `tidings config`: the reference of the configuration file, and a look at one.

use crate::args::Network;
use crate::args::operate::ConfigCommand;
use crate::config::{self, reference};
use crate::failure::Failure;
use crate::output::print_line;

pub fn run(command: ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Reference => print_line(reference::markdown().trim_end()),
        ConfigCommand::Check { place } => {
            let config = config::read(&place, &Network::default())?;
            print_line(&format!("{}: sound", config.origin))
        }
    }
}
