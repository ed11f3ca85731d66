//! The arguments of `tidings move-in`.

use clap::{Args, ValueEnum};

use super::{InstanceArgs, NetworkArgs};

/// The reader that a person leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OtherReader {
    /// miniflux: its own API, with a token or with user and password
    Miniflux,
    /// FreshRSS: its Google Reader API, with user and API password
    Freshrss,
    /// Any other server with the Google Reader API
    GoogleReader,
}

#[derive(Debug, Args)]
pub struct MoveInArgs {
    /// The reader program of the other server
    #[arg(value_enum)]
    pub reader: OtherReader,
    /// The address of the other server
    #[arg(value_name = "URL")]
    pub url: String,
    /// The user name on the other server
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// The file with the password or the token; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub secret: std::path::PathBuf,
    /// The account of this instance that subscribes to the feeds and gets the marks
    /// [default: the person at this machine]
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Take over at most this many of the newest read entries
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub entries: u64,
    /// Do not poll the new feeds now; the marks wait for the first poll
    #[arg(long)]
    pub no_poll: bool,
    /// Begin again, even if an earlier call was interrupted
    #[arg(long)]
    pub restart: bool,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub network: NetworkArgs,
    #[command(flatten)]
    pub place: InstanceArgs,
}
