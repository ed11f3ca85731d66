//! Reads entries: the stream of all entries, lists for one account, read marks and stars.
//!
//! Nothing here records entries or decides how long they are kept.

pub(crate) mod cursor;
pub(crate) mod entries;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod marks;
pub(crate) mod published_times;
pub(crate) mod selection;
pub(crate) mod undo;
