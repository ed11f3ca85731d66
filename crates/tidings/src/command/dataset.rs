//! `tidings dataset`: writes recorded feeds as a data set, reads data sets of others, and shows
//! statistics of an instance or of a data set. The crate `dataset` calculates; this module reads
//! the store and opens files.

mod archive;
pub mod export;
mod files;
mod import;
mod imported_poll;
pub mod population;
mod rows;
mod stats;
mod streams;

use crate::args::dataset::DatasetCommand;
use crate::error::CliError;

pub async fn run(command: &DatasetCommand) -> Result<(), CliError> {
    match command {
        DatasetCommand::Export(args) => export::run(args),
        DatasetCommand::Import(args) => import::run(args).await,
        DatasetCommand::Stats(args) => stats::run(args),
    }
}
