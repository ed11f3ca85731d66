//! Commands of people to a running instance, and their results. They travel from the command line,
//! the page and the APIs to the engine, which carries them out. Nothing is carried out here.

use feed::Outcome;
use serde::{Deserialize, Deserializer, Serialize};

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
    },
    Import {
        feeds: Vec<ImportedFeed>,
    },
    /// Without names: all feeds.
    Poll {
        feeds: Option<Vec<String>>,
    },
    Set {
        target: Target,
        change: FeedSettingsChange,
    },
    Remove {
        feed: String,
    },
    /// Gives a feed another address. Its entries and its learned state stay.
    Move {
        feed: String,
        url: String,
    },
    /// Gives a feed a title of our own; `None` restores the publisher's title.
    Title {
        feed: String,
        title: Option<String>,
    },
    /// Adds tags to feeds and removes others.
    Tag {
        feeds: Vec<String>,
        add: Vec<String>,
        remove: Vec<String>,
    },
    /// Renames a tag on all feeds, with its settings; `None` removes the tag from all feeds.
    RenameTag {
        tag: String,
        to: Option<String>,
    },
    /// Sets the budget's rule; `None` ends the budget.
    Budget {
        rule: Option<String>,
    },
    Query {
        wish: QueriesCommand,
    },
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
    /// The number of feeds under the budget.
    Budgeted {
        feeds: usize,
    },
    Query {
        granted: QueriesResult,
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

/// A command about standing queries.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueriesCommand {
    Apply {
        /// The name of the file, for error messages.
        file: String,
        text: String,
        /// Also match the entries seen in the last so many seconds.
        past: Option<u64>,
    },
    Drop {
        name: String,
    },
    /// Delivers the dead letters of a query again.
    Replay {
        name: String,
    },
}

/// The result of a command about standing queries.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueriesResult {
    Applied {
        queries: Vec<StatementResult>,
        /// The number of feeds that are polled from now on, and that are no longer polled.
        feeds_added: usize,
        feeds_resting: usize,
        /// The number of earlier entries that match.
        past: u64,
    },
    Dropped {
        feeds_resting: usize,
    },
    Replaying {
        letters: usize,
    },
}

/// The result of one statement.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct StatementResult {
    pub name: String,
    /// `created`, `replaced`, `dropped` or `unchanged`.
    pub what: String,
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
