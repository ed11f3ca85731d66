//! Feeds, their tags, addresses and totals.

mod address;
mod change;
mod tag_numbers;
mod totals;
