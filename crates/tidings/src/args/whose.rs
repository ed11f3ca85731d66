//! The argument that makes a command act for one account.

use clap::Args;

use super::InstanceArgs;

#[derive(Clone, Debug, Default, Args)]
pub struct WhoseArgs {
    /// Act for this account: its own subscriptions, tags and queries. Without it: the instance
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
}

/// The rest of a command for one account.
#[derive(Debug, Args)]
pub struct OwnerArgs {
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub whose: WhoseArgs,
    #[command(flatten)]
    pub place: InstanceArgs,
}
