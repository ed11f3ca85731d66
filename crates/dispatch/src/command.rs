//! What people ask of a running instance, and what came of it: the words that travel between a
//! command line, the page, the API and whoever carries them out. They do nothing themselves.

use feed::Outcome;
use serde::{Deserialize, Deserializer, Serialize};

/// The kind of a request in which a command travels. The number rises whenever a word of an older
/// program would be taken for something else: `null` once left a setting alone, and takes it back
/// now.
pub const REQUEST_KIND: &str = "command-2";

/// A wish, as it travels from one process to another.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Command {
    Add {
        urls: Vec<String>,
        tags: Vec<String>,
        /// Poll them at once. An address that yields no feed is then not kept.
        poll: bool,
        /// Keep it all the same.
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
        change: Change,
    },
    Remove {
        feed: String,
    },
    /// Gives a feed another address; what was kept and learned of it stays.
    Move {
        feed: String,
        url: String,
    },
    /// Gives a feed a title of our own; `None` shows the publisher's again.
    Title {
        feed: String,
        title: Option<String>,
    },
    /// Gives feeds tags and takes others away.
    Tag {
        feeds: Vec<String>,
        add: Vec<String>,
        remove: Vec<String>,
    },
    /// Gives a tag another name on all feeds, with its settings; `None` takes it from all.
    RenameTag {
        tag: String,
        to: Option<String>,
    },
    /// A rule as it is written, or `None` for no budget.
    Budget {
        rule: Option<String>,
    },
    Query {
        wish: QueryWish,
    },
    /// Changes of one thing that were asked for at once. All are checked before the first is made;
    /// the answer is the last one's.
    Together {
        commands: Vec<Command>,
    },
}

/// A feed of a subscription list.
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

/// A change of settings; durations in seconds. `Some(None)` takes a setting back; it travels as
/// null, and what is left alone does not travel.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Change {
    #[serde(deserialize_with = "said", skip_serializing_if = "Option::is_none")]
    pub policy: Option<Option<String>>,
    #[serde(deserialize_with = "said", skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Option<u64>>,
    #[serde(deserialize_with = "said", skip_serializing_if = "Option::is_none")]
    pub beta: Option<Option<u64>>,
    #[serde(deserialize_with = "said", skip_serializing_if = "Option::is_none")]
    pub max_delay: Option<Option<u64>>,
    pub weight: Option<f64>,
    pub paused: Option<bool>,
}

/// A field that is there was said, also where it is null.
fn said<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    field: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(field).map(Some)
}

/// What came of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Done {
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
        polls: Vec<Polled>,
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
        /// The address before and the present one, without secrets.
        from: String,
        url: String,
        /// Queries that name the address before, and so read the feed no longer.
        #[serde(default)]
        queries: Vec<String>,
    },
    /// How many feeds were polled, and how many of the polls did not succeed.
    PolledAll {
        feeds: usize,
        failed: usize,
    },
    Titled {
        feed: u32,
    },
    /// How many feeds were touched.
    Tagged {
        feeds: usize,
    },
    /// How many feeds are under it.
    Budgeted {
        feeds: usize,
    },
    Query {
        granted: QueryGranted,
    },
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct AddedFeed {
    pub id: u32,
    pub url: String,
    pub existed: bool,
    pub twin: Option<String>,
    pub poll: Option<Polled>,
}

/// An address that yielded no feed and was not kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct NotAdded {
    pub url: String,
    /// How its one poll ended.
    pub poll: Polled,
}

impl NotAdded {
    /// What came of it, in one sentence.
    pub fn words(&self) -> String {
        let NotAdded { url, poll } = self;
        match poll.candidates.len() {
            0 => format!("could not add {url}: {}", poll.detail),
            _ => format!("could not add {url}: it is a page that names several feeds; add one"),
        }
    }
}

/// The contract's answer to a poll.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Polled {
    pub feed: u32,
    pub outcome: String,
    pub new: usize,
    pub suspected_miss: bool,
    pub next_poll: Option<String>,
    pub detail: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

impl Polled {
    pub fn is_success(&self) -> bool {
        Outcome::from_word(&self.outcome).is_some_and(Outcome::is_success)
    }
}

/// What is asked of standing queries.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryWish {
    Apply {
        /// The name of the file, for faults.
        file: String,
        text: String,
        /// Entries seen in so many seconds before now are asked too.
        past: Option<u64>,
    },
    Drop {
        name: String,
    },
    /// Tries the dead letters of a query again.
    Replay {
        name: String,
    },
}

/// What came of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryGranted {
    Applied {
        queries: Vec<Applied>,
        /// Feeds that are polled from now on, and those that are no longer.
        feeds_added: usize,
        feeds_resting: usize,
        /// Entries of the past that were kept.
        past: u64,
    },
    Dropped {
        feeds_resting: usize,
    },
    Replaying {
        letters: usize,
    },
}

/// What became of one statement.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Applied {
    pub name: String,
    /// `created`, `replaced`, `dropped` or `unchanged`.
    pub what: String,
}

/// Why a command was not carried out.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Refusal {
    pub message: String,
    /// The call was wrong, rather than its carrying out.
    pub input: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_taken_back_arrives_as_such() {
        let change = Change {
            policy: Some(None),
            alpha: Some(Some(600)),
            max_delay: Some(None),
            ..Change::default()
        };
        for change in [change, Change { paused: Some(false), ..Change::default() }] {
            let travels = serde_json::to_string(&change).unwrap();
            let arrived: Change = serde_json::from_str(&travels).unwrap();
            assert_eq!(arrived, change, "{travels}");
        }
    }
}
