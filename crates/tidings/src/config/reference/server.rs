//! The tables for a store that several processes share: `[store]`, `[machine]`, `[delivery]`; and
//! `[recording]`.

use polling::written;

use super::{ConfigTable, key};
use crate::config::place;

pub fn store() -> ConfigTable {
    let keys = vec![key(
        "readers",
        "number",
        place::READERS.to_string(),
        "Connections to PostgreSQL that only read, at most. The process that records opens them \
         twice: for itself and for its pages.",
        "16",
    )];
    ConfigTable { name: "store", about: "Without a `database` this table has no effect.", keys }
}

pub fn machine() -> ConfigTable {
    let keys = vec![
        key(
            "name",
            "text",
            "host name, role and a random suffix",
            "The name of this process among the machines. Each process needs its own. Letters, \
             digits, `-` and `_`.",
            "\"box-1\"",
        ),
        key("region", "text", "none", "The region in which this process runs.", "\"eu\""),
        key(
            "seat_silence",
            "duration",
            written(place::SEAT_SILENCE),
            "After this time without a sign of life, another process on the same database \
             replaces the one that records. At least 3s.",
            "\"10s\"",
        ),
    ];
    let about = "This process among several: on one `database`, or as a terminal.";
    ConfigTable { name: "machine", about, keys }
}

pub fn delivery() -> ConfigTable {
    let keys = vec![key(
        "folder",
        "folder",
        "`deliveries` in the data folder; with a `database`: none",
        "The folder for files that queries deliver to. A relative path starts at the data folder. \
         With a `database`, files are refused without this key: another machine may take over, \
         so the folder should be on storage that all machines share.",
        "\"/srv/tidings-deliveries\"",
    )];
    ConfigTable { name: "delivery", about: "Receivers of queries (`DELIVER TO FILE`).", keys }
}

pub fn recording() -> ConfigTable {
    let keys = vec![
        key(
            "continuous",
            "boolean",
            "false",
            "Record every poll of `tidings run` with its messages and documents, without an end.",
            "true",
        ),
        key(
            "publish",
            "boolean",
            "false",
            "Show the page `/population` to everybody, without paused feeds and feeds with a \
             secret, and publish an export of each recorded month without titles and texts.",
            "true",
        ),
        key(
            "max_size",
            "size",
            "no limit",
            "When all stored documents have this size, keep no further ones. Polls are still \
             recorded.",
            "\"50GB\"",
        ),
        key(
            "max_feed_size",
            "size",
            "no limit",
            "The same for the documents of each feed.",
            "\"20MB\"",
        ),
    ];
    ConfigTable { name: "recording", about: "Recordings by the daemon.", keys }
}
