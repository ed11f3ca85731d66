//! Settings for the accounts of an instance.

use std::time::Duration;

/// A feed comes back complete if somebody subscribes again within a month.
const KEEP_UNWANTED: Duration = Duration::from_secs(30 * 86_400);

/// Settings for the accounts of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeopleSettings {
    pub weights: WeightRule,
    /// How long a feed is kept that nobody subscribes to and no query reads.
    pub keep_unwanted: Duration,
    /// Whether feeds are suggested to people, and the popular ones are shown.
    pub suggestions: bool,
}

impl Default for PeopleSettings {
    fn default() -> PeopleSettings {
        PeopleSettings {
            weights: WeightRule::Readers,
            keep_unwanted: KEEP_UNWANTED,
            suggestions: true,
        }
    }
}

/// The weight of feeds that have none by a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightRule {
    /// The number of people who read the feed.
    Readers,
    /// All feeds count the same.
    Equal,
}

impl WeightRule {
    pub const ALL: [WeightRule; 2] = [WeightRule::Readers, WeightRule::Equal];

    pub const fn word(self) -> &'static str {
        match self {
            WeightRule::Readers => "readers",
            WeightRule::Equal => "equal",
        }
    }

    pub fn from_word(word: &str) -> Option<WeightRule> {
        WeightRule::ALL.into_iter().find(|rule| rule.word() == word)
    }
}
