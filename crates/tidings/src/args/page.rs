//! The arguments of `tidings article`.

use std::path::PathBuf;

use clap::Args;

/// One web page, and where its main text is.
#[derive(Clone, Debug, Args)]
pub struct PageArgs {
    /// A file (`-` is standard input), or an address that is fetched
    #[arg(value_name = "FILE|URL")]
    pub page: String,
    /// The URL it came from: the base of relative links
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The Content-Type it came with
    #[arg(long, value_name = "TYPE")]
    pub content_type: Option<String>,
    /// Take the elements that match this CSS selector instead of searching for the text
    #[arg(long, value_name = "SELECTOR")]
    pub keep: Option<String>,
    /// Leave out elements that match this CSS selector, inside the elements of --keep
    #[arg(long, value_name = "SELECTOR", requires = "keep")]
    pub remove: Option<String>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    /// Request loopback and private addresses too
    #[arg(long)]
    pub allow_private: bool,
    /// The configuration file (TOML); without it the defaults apply
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
