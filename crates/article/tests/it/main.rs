//! Tests of the extraction from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod clean;
mod facts;
mod hostile;
mod mozilla;
mod styles;
mod words;
