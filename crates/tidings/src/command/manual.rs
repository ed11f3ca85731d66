//! `tidings man` and `tidings completions`: turn the declaration of the command line into manual
//! pages and shell completions.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::{CliError, failed};
use crate::output::print_line;

/// Prints the page of the whole program. With a folder, writes that page and one for each command.
pub fn man(out: Option<&Path>) -> Result<(), CliError> {
    let cli = Cli::command();
    let Some(folder) = out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(cli).render(&mut page)?;
        return print_text(&page);
    };
    let cannot = |e| failed(format!("cannot write manual pages to {}: {e}", folder.display()));
    std::fs::create_dir_all(folder).map_err(cannot)?;
    clap_mangen::generate_to(cli, folder).map_err(cannot)
}

pub fn completions(shell: Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tidings", &mut script);
    print_text(&script)
}

fn print_text(bytes: &[u8]) -> Result<(), CliError> {
    print_line(String::from_utf8_lossy(bytes).trim_end())
}
