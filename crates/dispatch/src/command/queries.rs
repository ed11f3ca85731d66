//! Commands about standing queries, and their results.

use serde::{Deserialize, Serialize};

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
        /// The account that changes its queries; `None`: the instance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
    },
    Drop {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
    },
    /// Shows a query to everybody on the instance, or ends this.
    Share {
        name: String,
        shared: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
    },
    /// Delivers the dead letters of a query again.
    Replay {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<i64>,
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
    Shared {
        name: String,
        shared: bool,
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
