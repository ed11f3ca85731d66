//! Data sets of recorded feeds: their tables, archives, statistics and duplicates.
//!
//! Everything here is pure. Readers and writers are handed in, times and seeds are arguments, and
//! no file, socket or database is opened.
//!
//! # Layout
//! - [`discovery`]: the steps from a list of addresses to feeds, and what each step removed.
//!   [`resources`] finds different addresses of one feed, [`sample`] draws a sample.
//! - [`tables`]: the tables of a data set as CSV, and their description.
//! - [`warc`]: the archive of documents. [`http_head`] prepares the heads of its records.
//! - [`package`]: the files that describe a data set.
//! - [`pseudonym`]: removes titles and links.
//! - [`attributes`]: what a document says about itself.
//! - [`statistics`]: the figures of a population, compared with the published ones.
//!   [`power_law`] fits them, [`report`] shows them.

pub mod attributes;
pub mod discovery;
pub mod http_head;
pub mod package;
pub mod power_law;
pub mod pseudonym;
pub mod report;
pub mod resources;
pub mod sample;
pub mod statistics;
pub mod tables;
pub mod warc;
