//! Tests of the store through its public functions only.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod db;
mod differential;
mod feeds;
#[path = "../../../tidings/tests/it/support/needed.rs"]
mod needed;
mod people;
mod push;
mod queries;
mod reading;
mod record;
mod report;
mod rules;
mod sample;
mod schedule;
