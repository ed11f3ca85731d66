//! The description of every column: type, unit and meaning. `datapackage.json` contains it.

/// A table and its columns.
#[derive(Debug)]
pub struct TableSchema {
    pub name: &'static str,
    pub title: &'static str,
    pub columns: &'static [ColumnSchema],
    /// The columns that identify a row, if there are some.
    pub primary_key: &'static [&'static str],
}

/// A column of a table.
#[derive(Debug)]
pub struct ColumnSchema {
    pub name: &'static str,
    pub kind: ColumnType,
    pub meaning: &'static str,
    pub required: bool,
}

/// The type of a column, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Text,
    /// A whole number of these.
    Whole(&'static str),
    /// RFC 3339, UTC, with milliseconds.
    Moment,
    Flag,
}

impl ColumnType {
    /// Returns the type in the words of Table Schema.
    pub const fn word(self) -> &'static str {
        match self {
            Text => "string",
            Whole(_) => "integer",
            Moment => "datetime",
            Flag => "boolean",
        }
    }
}

use ColumnType::{Flag, Moment, Text, Whole};

const fn must(name: &'static str, kind: ColumnType, meaning: &'static str) -> ColumnSchema {
    ColumnSchema { name, kind, meaning, required: true }
}

const fn may(name: &'static str, kind: ColumnType, meaning: &'static str) -> ColumnSchema {
    ColumnSchema { name, kind, meaning, required: false }
}

const NUMBER: ColumnType = Whole("number");
const SECONDS: ColumnType = Whole("s");
const BYTES: ColumnType = Whole("B");

pub const FEEDS: TableSchema = TableSchema {
    name: "feeds",
    title: "Feeds",
    primary_key: &["feed"],
    columns: &[
        must("feed", NUMBER, "the number of the feed in this data set"),
        must("url", Text, "the address as subscribed, with secrets masked"),
        may("site", Text, "the page that the feed belongs to"),
        may("title", Text, "the title of the feed"),
        may("format", Text, "the format of the last document that was read"),
        may("language", Text, "the language that the feed declares"),
        may("window", Whole("entries"), "the entries of the last document"),
        may("ttl", SECONDS, "the publisher's time to live"),
        may("first_poll", Moment, "when the first request was sent"),
        may("last_poll", Moment, "when the last request was sent"),
        must("polls", NUMBER, "polls in this data set"),
        must("entries", NUMBER, "entries in this data set"),
        must("misses", NUMBER, "suspected misses in this data set"),
        may("pattern", Text, "the update pattern by the text of the dissertation"),
        may("pattern_by_code", Text, "the update pattern by the code behind the dissertation"),
        may("window_change", Text, "growing, alternating or swinging, if the window size varies"),
        may("identifiers", Flag, "whether the first entry has a guid or an id"),
        may("dates", Flag, "whether any entry has a readable date"),
        may("cloud", Text, "the address of the rssCloud"),
        may("hub", Text, "the address of the WebSub hub"),
        may("skip_hours", Flag, "whether the feed has skipHours"),
        may("skip_days", Flag, "whether the feed has skipDays"),
        may("update_period", SECONDS, "sy:updatePeriod divided by sy:updateFrequency"),
        may("enclosures", Flag, "whether any entry has a file attached"),
        may("categories", Flag, "whether any entry has a category"),
        may("full_content", Flag, "whether any entry has its content and not only a summary"),
        may("charset", Text, "the charset that the last document declares"),
        may("time_zone", Text, "the time zone that the dates of the last document state"),
        may("well_formed", Flag, "whether the last document could be read without repairs"),
        may("document_bytes", BYTES, "the size of the last document, decompressed"),
    ],
};

pub const POLLS: TableSchema = TableSchema {
    name: "polls",
    title: "Polls",
    primary_key: &[],
    columns: &[
        must("feed", NUMBER, "the feed that was polled"),
        must("at", Moment, "when the first request was sent"),
        may("status", NUMBER, "the HTTP status of the last answer; empty if there was none"),
        must("outcome", Text, "seen, unchanged, damaged, gone, refused or failed"),
        must("bytes", BYTES, "bytes on the wire: heads, and bodies as they came"),
        must("elapsed_ms", Whole("ms"), "the duration of all exchanges"),
        may("items", Whole("entries"), "the entries of the document"),
        may("new", Whole("entries"), "the entries never seen before"),
        may("etag", Text, "the header ETag"),
        may("last_modified", Text, "the header Last-Modified"),
        may("date", Text, "the header Date"),
        may("expires", Text, "the header Expires"),
        may("content_type", Text, "the header Content-Type"),
        may(
            "document_sha256",
            Text,
            "SHA-256 of the document or the kept error page, decompressed",
        ),
        may("warnings", Text, "repairs and omissions of the parser, one a line"),
        may("cache_control", Text, "the header Cache-Control"),
        may("age", Text, "the header Age"),
        may("retry_after", Text, "the header Retry-After"),
        may("content_encoding", Text, "the header Content-Encoding"),
        may("vary", Text, "the header Vary"),
        may("conditional", Flag, "whether the request carried a validator"),
        may("head_bytes", BYTES, "the size of the answer's head"),
        may("planned", Moment, "when the poll was planned"),
        may("error", Text, "the reason of a failure"),
    ],
};

pub const ENTRIES: TableSchema = TableSchema {
    name: "entries",
    title: "Entries",
    primary_key: &[],
    columns: &[
        must("feed", NUMBER, "the feed of the entry"),
        must("published", Moment, "the corrected time; the poll's if no claim is usable"),
        may("claimed", Moment, "the publisher's own time"),
        must("visible", Moment, "when the entry appeared, estimated from the polls around it"),
        must("seen", Moment, "when the poll that found it was sent"),
        must("key", Text, "the identity of the entry within its feed"),
        may("title", Text, "the title"),
        may("link", Text, "the link"),
        may("window", Whole("entries"), "the entries of the document that showed it first"),
        may("hash", Text, "SHA-1 of title, link and publisher's id: the dissertation's identity"),
    ],
};

pub const MISSES: TableSchema = TableSchema {
    name: "misses",
    title: "Suspected misses",
    primary_key: &[],
    columns: &[
        must("feed", NUMBER, "the feed"),
        must("at", Moment, "the poll whose document shares no entry with the one before"),
        may("previous_poll", Moment, "the last successful poll before"),
    ],
};

pub const DISCOVERY: TableSchema = TableSchema {
    name: "discovery",
    title: "Addresses that discovery dropped",
    primary_key: &[],
    columns: &[
        must("address", Text, "the address, with secrets masked"),
        must("reason", Text, "the step that dropped it"),
        may("detail", Text, "the cause in words, or the address that is kept instead"),
    ],
};

pub const DOCUMENTS: TableSchema = TableSchema {
    name: "documents",
    title: "Documents in the archive",
    primary_key: &[],
    columns: &[
        must("sha256", Text, "SHA-256 of the document, decompressed"),
        must("feed", NUMBER, "the feed"),
        must("first_seen", Moment, "the poll that brought it first"),
        must("bytes", BYTES, "its size, decompressed"),
        must("file", Text, "the WARC file"),
        must("offset", BYTES, "the place of its record in the file"),
        must("length", BYTES, "the size of its record in the file, compressed"),
    ],
};
