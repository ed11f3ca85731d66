//! The arguments of commands that change many feeds or tags, and that can be undone.

use clap::{Args, Subcommand};

use super::whose::OwnerArgs;

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("which").required(true).multiple(true)
    .args(["feeds", "all", "search", "tag", "state"])))]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true)
    .args(["add_tags", "remove_tags", "pause", "resume", "policy", "unsubscribe"])))]
pub struct BulkArgs {
    /// The feeds: their numbers or URLs
    #[arg(value_name = "FEED", conflicts_with_all = ["all", "search", "tag", "state"])]
    pub feeds: Vec<String>,
    /// All feeds
    #[arg(long, conflicts_with_all = ["search", "tag", "state"])]
    pub all: bool,
    /// Feeds with this text in their title, address or tags
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// Feeds with this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// Feeds in this state; `active` includes feeds that were never polled
    #[arg(long, value_name = "STATE", value_parser =
        ["active", "backing-off", "damaged", "gone", "paused", "never"])]
    pub state: Option<String>,
    /// Add this tag (repeatable)
    #[arg(long = "add-tag", value_name = "TAG",
        conflicts_with_all = ["pause", "resume", "policy", "unsubscribe"])]
    pub add_tags: Vec<String>,
    /// Remove this tag (repeatable)
    #[arg(long = "remove-tag", value_name = "TAG",
        conflicts_with_all = ["pause", "resume", "policy", "unsubscribe"])]
    pub remove_tags: Vec<String>,
    /// Stop polling the feeds
    #[arg(long, conflicts_with_all = ["resume", "policy", "unsubscribe"])]
    pub pause: bool,
    /// Resume polling the feeds
    #[arg(long, conflicts_with_all = ["policy", "unsubscribe"])]
    pub resume: bool,
    /// The policy, as in `feed set`; `default` removes the setting
    #[arg(long, value_name = "SPEC", conflicts_with = "unsubscribe")]
    pub policy: Option<String>,
    /// End the subscriptions. Feeds that nobody needs are paused, and removed some time later
    #[arg(long)]
    pub unsubscribe: bool,
    #[command(flatten)]
    pub rest: OwnerArgs,
}

#[derive(Debug, Subcommand)]
pub enum TagCommand {
    /// List the tags in their order
    List(OwnerArgs),
    /// Rename a tag; if the new name is in use, the two tags become one
    Rename {
        /// The tag
        tag: String,
        /// The new name
        to: String,
        #[command(flatten)]
        rest: OwnerArgs,
    },
    /// Remove a tag from all feeds
    Remove {
        /// The tag
        tag: String,
        #[command(flatten)]
        rest: OwnerArgs,
    },
    /// Set the order of tags, in which pages and reader apps show them
    Order {
        /// The tags in their new order; all other tags follow
        #[arg(required = true, value_name = "TAG")]
        tags: Vec<String>,
        #[command(flatten)]
        rest: OwnerArgs,
    },
}
