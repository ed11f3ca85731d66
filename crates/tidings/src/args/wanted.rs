//! Which entries of a trace somebody wants, for `lab run` and `lab budget`.

use std::path::PathBuf;

use clap::Args;

#[derive(Clone, Debug, Default, Args)]
pub struct WantedArgs {
    /// Queries that choose the wanted entries by the texts of the trace (columns title, summary,
    /// content, author, categories, link, language, tags). Every figure then counts the wanted
    /// entries only, as with a column `relevant`. Each policy or strategy runs
    /// twice: it learns first from all entries, then from the wanted ones
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
}
