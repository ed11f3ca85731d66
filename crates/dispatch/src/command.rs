//! Commands of people to a running instance, and their results. They travel from the command line,
//! the page and the APIs to the engine, which carries them out. Nothing is carried out here.

mod bulk;
mod queries;

use feed::{ArticleMode, Outcome};
use serde::{Deserialize, Deserializer, Serialize};

pub use bulk::{BulkChange, BulkCommand, FeedChoice};
pub use queries::{QueriesCommand, QueriesResult, StatementResult};

/// The kind of a request that holds a command. The number rises whenever a newer program would
/// misread an older command. In the first version `null` left a setting alone; now it removes the
/// setting.
pub const REQUEST_KIND: &str = "command-2";

/// A command, as it travels from one process to another.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Command {
    Add {
        urls: Vec<String>,
        tags: Vec<String>,
        /// Poll them at once. An address without a feed is then not kept.
        poll: bool,
        /// Keep such an address nevertheless.
        #[serde(default)]
        force: bool,
        /// The account that subscribes; `None`: the instance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
    },
    Import {
        feeds: Vec<ImportedFeed>,
        /// The account that subscribes; `None`: the instance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
    },
    /// Subscribes an account to feeds that exist.
    Subscribe {
        feeds: Vec<u32>,
        account: i64,
    },
    /// Without names: all feeds.
    Poll {
        feeds: Option<Vec<String>>,
    },
    Set {
        target: Target,
        change: FeedSettingsChange,
    },
    /// Changes the settings for requests of a feed. For an account it changes a feed of its own.
    Fetch {
        feed: String,
        change: FetchSettingsChange,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
    },
    /// Removes a feed, or ends the subscription of an account.
    Remove {
        feed: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
    },
    /// Gives a feed another address. Its entries and its learned state stay.
    Move {
        feed: String,
        url: String,
    },
    /// Gives a feed a title of our own; `None` restores the publisher's title. With an account,
    /// only its subscription gets the title.
    Title {
        feed: String,
        title: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
    },
    /// Adds tags to feeds, or to subscriptions of an account, and removes others.
    Tag {
        feeds: Vec<String>,
        add: Vec<String>,
        remove: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
    },
    /// Renames a tag on all feeds, with its settings; `None` removes the tag from all feeds. With
    /// an account, only its own tag changes.
    RenameTag {
        tag: String,
        to: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
    },
    /// Changes many feeds, and can be undone.
    Bulk {
        wish: BulkCommand,
        /// The account that makes the change; `None`: the instance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
        /// The feeds and tags of the instance are meant, not those of the account.
        #[serde(default)]
        everyone: bool,
    },
    /// Sets the budget's rule; `None` ends the budget.
    Budget {
        rule: Option<String>,
    },
    Query {
        wish: QueriesCommand,
    },
    /// Loads the page behind an entry, because a person wants to read it.
    Article {
        entry: i64,
    },
    /// Tries a CSS selector on the page behind an entry. Nothing is stored.
    TryArticle {
        entry: i64,
        /// `None`: the main text is searched for.
        selector: Option<String>,
    },
    /// Posts an entry to a webhook of a person.
    Share {
        account: i64,
        /// The number of the webhook among the services of the person.
        position: i64,
        entry: i64,
    },
    /// Asks a machine to finish its work and take no more, or to work again.
    Drain {
        machine: String,
        on: bool,
    },
    /// Asks the active controller to give its seat to another process.
    StepDown,
    /// Several changes of one object. The engine checks all of them before it makes the first. The
    /// result is that of the last command.
    Together {
        commands: Vec<Command>,
    },
}

/// A feed of an imported subscription list.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ImportedFeed {
    pub url: String,
    pub title: Option<String>,
    pub site: Option<String>,
    pub tags: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    Feed(String),
    Tag(String),
}

/// A change of settings; durations in seconds. `Some(None)` removes a setting and travels as null.
/// A setting that stays as it is does not travel.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct FeedSettingsChange {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub policy: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Option<u64>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub beta: Option<Option<u64>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_delay: Option<Option<u64>>,
    pub weight: Option<f64>,
    pub paused: Option<bool>,
    /// When the pages behind its entries are fetched.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub articles: Option<Option<ArticleMode>>,
    /// A CSS selector for the main text of these pages.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub article_selector: Option<Option<String>>,
    /// The region in which the feeds are polled.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub region: Option<Option<String>>,
}

/// A change of the settings for requests of a feed. Commands are stored until they are carried out,
/// so secrets travel encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FetchSettingsChange {
    /// The origin of the feed's address, for which the values are meant.
    pub origin: String,
    pub set: Vec<SealedSetting>,
    /// The names of settings that are removed.
    pub remove: Vec<String>,
}

/// A setting whose secret is encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SealedSetting {
    pub name: String,
    /// The part of the value that may be shown.
    pub shown: Option<String>,
    #[serde(with = "crate::fields::optional_bytes")]
    pub sealed: Option<Vec<u8>>,
}

/// Reads a field that is present, also if it is null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    field: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(field).map(Some)
}

/// The result of a command.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CommandResult {
    /// The page behind an entry: its words, or why there is none (yet).
    Article {
        entry: i64,
        words: Option<u64>,
        reason: Option<String>,
        /// It is tried again later.
        later: bool,
    },
    /// The text that a selector finds, or why there is none.
    TriedArticle {
        entry: i64,
        title: Option<String>,
        words: u64,
        /// The beginning of the text, one line per block.
        text: String,
        reason: Option<String>,
    },
    Added {
        feeds: Vec<AddedFeed>,
        #[serde(default)]
        not_added: Vec<NotAdded>,
    },
    Imported {
        added: usize,
        known: usize,
        refused: Vec<String>,
    },
    Polled {
        polls: Vec<PollSummary>,
    },
    Set {
        feeds: usize,
    },
    Removed {
        feed: u32,
        url: String,
    },
    Moved {
        feed: u32,
        /// The old and the new address, without secrets.
        from: String,
        url: String,
        /// Queries that name the old address and so no longer read the feed.
        #[serde(default)]
        queries: Vec<String>,
    },
    /// The number of polled feeds, and the number of polls that failed.
    PolledAll {
        feeds: usize,
        failed: usize,
    },
    Titled {
        feed: u32,
    },
    /// The number of changed feeds.
    Tagged {
        feeds: usize,
    },
    /// A change of many feeds, or its undo.
    Changed {
        feeds: usize,
        /// The change that was made or undone, in words.
        what: String,
        /// The number under which it can be undone; `None` if there is nothing to undo.
        undo: Option<i64>,
    },
    /// The number of feeds under the budget.
    Budgeted {
        feeds: usize,
    },
    Query {
        granted: QueriesResult,
    },
    /// The entry was posted.
    Sent {
        service: String,
    },
    /// The machine that was asked to change what it does.
    Asked {
        machine: String,
    },
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct AddedFeed {
    pub id: u32,
    pub url: String,
    pub existed: bool,
    pub twin: Option<String>,
    pub poll: Option<PollSummary>,
}

/// An address without a feed, which was not kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct NotAdded {
    pub url: String,
    /// The outcome of its only poll.
    pub poll: PollSummary,
}

impl NotAdded {
    /// Says in one sentence why the address was not added.
    pub fn words(&self) -> String {
        let NotAdded { url, poll } = self;
        match poll.candidates.len() {
            0 => format!("could not add {url}: {}", poll.detail),
            _ => format!("could not add {url}: it is a page that names several feeds; add one"),
        }
    }
}

/// The answer to a poll, under the field names of `feed poll --json`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PollSummary {
    pub feed: u32,
    pub outcome: String,
    pub new: usize,
    pub suspected_miss: bool,
    pub next_poll: Option<String>,
    pub detail: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

impl PollSummary {
    pub fn is_success(&self) -> bool {
        Outcome::from_word(&self.outcome).is_some_and(Outcome::is_success)
    }
}

/// The reason why a command was not carried out.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CommandRefusal {
    pub message: String,
    /// The command itself was wrong.
    pub input: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_setting_arrives_as_removed() {
        let change = FeedSettingsChange {
            policy: Some(None),
            alpha: Some(Some(600)),
            max_delay: Some(None),
            ..FeedSettingsChange::default()
        };
        for change in
            [change, FeedSettingsChange { paused: Some(false), ..FeedSettingsChange::default() }]
        {
            let sent = serde_json::to_string(&change).unwrap();
            let arrived: FeedSettingsChange = serde_json::from_str(&sent).unwrap();
            assert_eq!(arrived, change, "{sent}");
        }
    }
}
