//! The arguments of `tidings machines`.

use clap::{Args, Subcommand};

use super::InstanceArgs;

#[derive(Debug, Args)]
#[command(after_help = "Needs a PostgreSQL database; a data folder has one process. The command \
    reads the database only,\nso it also works while no controller is active.")]
#[command(args_conflicts_with_subcommands = true)]
pub struct MachinesArgs {
    #[command(subcommand)]
    pub command: Option<MachinesCommand>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: InstanceArgs,
}

#[derive(Debug, Subcommand)]
pub enum MachinesCommand {
    /// Ask a machine to finish its work and take no more
    Drain {
        /// The name, as `tidings machines` shows it
        name: String,
        /// Let it work again
        #[arg(long)]
        undo: bool,
        #[command(flatten)]
        place: InstanceArgs,
    },
    /// Make a key for a machine on the bus; prints the public half for the server
    Key {
        /// The new file with the secret half
        file: std::path::PathBuf,
    },
    /// Ask the active controller to give its seat to another process
    StepDown {
        #[command(flatten)]
        place: InstanceArgs,
    },
}
