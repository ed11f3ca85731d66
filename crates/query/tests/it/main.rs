//! Tests of the public interface of the crate.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may stop")]

mod language;
mod matching;
mod sample;
