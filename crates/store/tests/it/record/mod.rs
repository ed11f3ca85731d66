//! Recorded polls, copies of entries and retention.

mod copies;
mod poll_history;
mod recording;
pub mod retention;
