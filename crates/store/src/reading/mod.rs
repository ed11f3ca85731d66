//! Reads entries: the stream of all entries, lists for one account, read marks, stars, labels
//! and hidden entries.
//!
//! Nothing here records entries or decides how long they are kept.

mod cost;
pub(crate) mod cursor;
pub(crate) mod entries;
pub(crate) mod hidden;
pub(crate) mod history;
pub(crate) mod labels;
pub(crate) mod list;
pub(crate) mod marks;
pub(crate) mod moving_in;
mod newest;
pub(crate) mod published_times;
pub(crate) mod selection;
mod star_times;
pub(crate) mod stories;
mod stream_of;
pub(crate) mod undo;
