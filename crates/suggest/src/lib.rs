//! Suggestions of feeds: which feeds the same people read, the best of them for one person, and
//! the reason of each. Also which subscriptions a person hardly opens.
//!
//! The input are lists of subscriptions and counts, the output are lists of feeds. Nothing here
//! knows names of people, stores anything, or asks a clock or a source of chance.
//!
//! # Layout
//! - `similarity`: the neighbours of each feed, by common subscribers.
//! - `ranking`: the best feeds for one person, with their reasons.
//! - `rarely`: subscriptions that are hardly opened.
//! - `hidden`: judges the ranking by feeds that were hidden from it.

pub mod hidden;
mod ranking;
mod rarely;
mod similarity;

pub use ranking::{AlsoRead, SharedReaders, also_read, in_turn};
pub use rarely::{OpenedShare, RARELY_SPAN, is_rarely_opened};
pub use similarity::{NEIGHBOURS_MAX, Neighbour, PEOPLE_MIN, SUBSCRIPTIONS_MAX, neighbours};
