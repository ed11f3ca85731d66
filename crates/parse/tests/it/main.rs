//! Real documents, and their expected content.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may stop")]

mod corpus;
mod difference;
mod documents;
mod expect;
mod facts;
mod feedparser;
mod lists;
mod media;
mod model;
mod robustness;
mod written;
