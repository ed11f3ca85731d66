//! Recorded polls, copies of entries and retention.

mod copies;
mod poll_history;
pub mod retention;
