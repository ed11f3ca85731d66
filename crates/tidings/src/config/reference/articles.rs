//! The reference of `[articles]`.

use polling::written;

use super::{ConfigKey, ConfigTable, key};

/// The table for the pages behind entries.
pub fn articles() -> ConfigTable {
    let settings = engine::ArticlesSettings::default();
    let mut keys = vec![
        key(
            "fetch",
            "`never`, `opened` or `every`",
            settings.mode.word(),
            "When the page behind an entry is fetched, for feeds without a setting of their own \
             or of a tag.",
            "\"opened\"",
        ),
        key(
            "per_domain",
            "number",
            settings.per_domain_max.to_string(),
            "The pages of one registrable domain that are fetched in a day although nobody asked \
             for them.",
            "200",
        ),
        key(
            "per_day",
            "number",
            settings.per_day_max.to_string(),
            "The same for all domains together.",
            "10000",
        ),
        key(
            "wait",
            "duration",
            written(settings.wait),
            "How long queries with `ARTICLE` wait for a page. Then they decide without it.",
            "\"30m\"",
        ),
        key(
            "age",
            "duration",
            "as long as the entry",
            "Articles fetched longer ago are deleted. Those of starred entries stay.",
            "\"90d\"",
        ),
        key(
            "keep_html",
            "`true` or `false`",
            settings.keep_html.to_string(),
            "Also keep the pages as they came.",
            "true",
        ),
    ];
    keys.extend(facts());
    let about = "The pages behind entries, and the facts about entries.";
    ConfigTable { name: "articles", about, keys }
}

fn facts() -> Vec<ConfigKey> {
    vec![
        key(
            "default_language",
            "language",
            "unknown",
            "The language of entries about which nothing is known.",
            "\"en\"",
        ),
        key(
            "topics",
            "file",
            "the built-in table",
            "A file of lines such as `politics: politik, wahlen`. Its words come before those of \
             the built-in table.",
            "\"/etc/tidings/topics.txt\"",
        ),
        key(
            "icons",
            "`true` or `false`",
            "true",
            "Fetch the icons of sites, behind all polls, once in 30 days.",
            "true",
        ),
    ]
}
