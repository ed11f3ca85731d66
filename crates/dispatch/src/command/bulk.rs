//! Commands that change many feeds, or the names and the order of tags. Each can be undone.

use serde::{Deserialize, Serialize};

/// The changes of one account, or of the instance.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BulkCommand {
    /// Changes all chosen feeds or none.
    Change { choice: FeedChoice, change: BulkChange },
    /// Renames a tag, or makes it one with another; `None` removes it from all feeds.
    RenameTag { tag: String, to: Option<String> },
    /// Sets the order of tags. Tags that are not named follow.
    OrderTags { tags: Vec<String> },
    /// Undoes the last of these commands. With a number, only if it is that of the last one.
    Undo { number: Option<i64> },
}

/// The feeds that a person has chosen.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeedChoice {
    Feeds(Vec<u32>),
    /// All that match a search: a text in title, address or tags, a tag, and the word of a state.
    Matching {
        text: String,
        tag: Option<String>,
        state: Option<String>,
    },
}

/// A change of the chosen feeds.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BulkChange {
    Tag {
        add: Vec<String>,
        remove: Vec<String>,
    },
    Unsubscribe,
    Pause,
    Resume,
    /// `None` removes the policy of the feeds themselves.
    Policy {
        policy: Option<String>,
    },
}

impl BulkChange {
    /// Returns whether it changes the feeds for everybody. Otherwise it changes subscriptions.
    pub const fn is_for_all(&self) -> bool {
        matches!(self, BulkChange::Pause | BulkChange::Resume | BulkChange::Policy { .. })
    }
}
