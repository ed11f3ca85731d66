//! The arguments of `tidings discover`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "With --from, the list has one address a line: pages, feeds or bare host names. \
    A name ending in .gz is\ngzip, `-` is standard input. One request at a time goes to each \
    domain. With --out, an interrupted run\ncontinues: repeat the same command. FILE.dropped.csv \
    names every address that was dropped, and why."
)]
pub struct DiscoverArgs {
    /// The addresses of web pages, feeds or hosts
    #[arg(required_unless_present = "from", value_name = "URL")]
    pub urls: Vec<String>,
    /// Find the feeds of a long list of addresses
    #[arg(long, value_name = "FILE", conflicts_with = "urls")]
    pub from: Option<PathBuf>,
    /// Keep a random sample of this many feeds
    #[arg(long, value_name = "N", requires = "from")]
    pub sample: Option<usize>,
    /// The seed of the sample; the same seed gives the same sample
    #[arg(long, value_name = "TEXT", default_value = "0")]
    pub seed: String,
    /// Write the feeds to this file: OPML if its name ends in .opml, else one address a line
    #[arg(long, value_name = "FILE", requires = "from")]
    pub out: Option<PathBuf>,
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
