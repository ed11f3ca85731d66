//! The reference of `[people]`.

use polling::written;

use super::{ConfigTable, key};

/// The table for the accounts of an instance.
pub fn people() -> ConfigTable {
    let settings = engine::PeopleSettings::default();
    ConfigTable {
        name: "people",
        about: "Accounts and their subscriptions.",
        keys: vec![
            key(
                "weights",
                "`readers` or `equal`",
                settings.weights.word(),
                "The weight of a feed without a weight of its own or of a tag. `readers`: the \
                 number of subscribers who have read something in the last 30 days, at least 1. \
                 `equal`: 1.",
                "\"equal\"",
            ),
            key(
                "keep_unwanted",
                "duration",
                written(settings.keep_unwanted),
                "How long a feed is kept, without polls, after its last subscriber has left and \
                 no query reads it. Feeds with starred entries stay.",
                "\"90d\"",
            ),
            key(
                "suggestions",
                "`true` or `false`",
                settings.suggestions.to_string(),
                "Suggest feeds to people and show the popular ones. This uses the subscriptions \
                 of everybody who has not opted out, and looks for feeds on the pages of sites \
                 that several feeds of a person link to: one page of a site in 30 days, at most \
                 200 sites a day.",
                "false",
            ),
        ],
    }
}
