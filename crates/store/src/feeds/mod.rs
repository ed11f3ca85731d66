//! The feeds: adding, changing and removing them, their tags, settings, state and domains, and the
//! lists in which they are shown.
//!
//! Nothing here polls a feed or decides when the next poll is due.

pub(crate) mod address;
pub(crate) mod change;
pub(crate) mod domains;
pub(crate) mod fetch_settings;
mod handing_on;
pub(crate) mod list;
pub(crate) mod list_order;
pub(crate) mod names;
pub(crate) mod of_account;
mod own_order;
pub(crate) mod parts;
pub(crate) mod private;
pub(crate) mod private_matches;
mod regions;
pub(crate) mod rows;
pub(crate) mod settings;
pub(crate) mod state;
pub(crate) mod subscribing;
pub(crate) mod tag_feeds;
pub(crate) mod tag_numbers;
pub(crate) mod takeover;
