//! The arguments of `tidings feed list`.

use clap::Args;

use super::InstanceArgs;
use super::whose::WhoseArgs;

#[derive(Debug, Args)]
pub struct FeedList {
    /// Only feeds in this state; `active` includes feeds that were never polled
    #[arg(long, value_name = "STATE", value_parser =
        ["active", "backing-off", "damaged", "gone", "paused", "never"])]
    pub state: Option<String>,
    /// Only feeds with this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// The order: problems first, last poll first, next poll first, or title [default: by number]
    #[arg(long, value_name = "ORDER", value_parser = ["trouble", "last", "next", "title"])]
    pub sort: Option<String>,
    /// At most this many feeds [default: 100 on a terminal, otherwise all]
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub whose: WhoseArgs,
    #[command(flatten)]
    pub place: InstanceArgs,
}
