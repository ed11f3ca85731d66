//! What the store promises, asked through its public functions only.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod accounts;
mod backup;
mod concurrent;
mod deliveries;
mod entries;
mod feeds;
mod files;
mod full;
mod killed;
#[path = "../../../tidings/tests/it/needed.rs"]
mod needed;
mod overview;
mod polls;
mod provenance;
mod queries;
mod reading;
mod replan;
mod requests;
mod retention;
mod sample;
mod schedule;
mod search;
mod tag_numbers;
mod undo;
