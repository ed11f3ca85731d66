//! The flags of `tidings feed set` for the requests of one feed.

use clap::Args;

/// How the requests of a feed differ. A value `@FILE` is read from a file and `@-` from standard
/// input, so that it is in no list of processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Requests of the feed (`@FILE` reads a value, `@-` standard input)")]
pub struct FetchArgs {
    /// An extra header, as `NAME: VALUE`; may be repeated
    #[arg(long, value_name = "HEADER")]
    pub header: Vec<String>,
    /// Remove an extra header
    #[arg(long, value_name = "NAME")]
    pub no_header: Vec<String>,
    /// The cookies, as `NAME=VALUE; …`; `default` removes them
    #[arg(long, value_name = "COOKIES")]
    pub cookie: Option<String>,
    /// The User-Agent; `default` removes the setting
    #[arg(long, value_name = "TEXT")]
    pub user_agent: Option<String>,
    /// User and password, as `USER:PASSWORD`; `default` removes them
    #[arg(long, value_name = "LOGIN")]
    pub login: Option<String>,
    /// A proxy (http, https, socks5 or socks5h); `default` removes the setting
    #[arg(long, value_name = "URL")]
    pub proxy: Option<String>,
    /// `check` the certificate of the server, or `ignore` it. If it is ignored, anybody on the way
    /// can read and change everything
    #[arg(long, value_name = "WHAT")]
    pub tls: Option<String>,
    /// Remove all settings of this group
    #[arg(long)]
    pub plain_requests: bool,
}
