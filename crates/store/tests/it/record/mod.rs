//! Recorded polls, copies and edits of entries, and retention.

mod copies;
mod edits;
mod poll_history;
mod recording;
pub mod retention;
