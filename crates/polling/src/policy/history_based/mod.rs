//! Policies that learn the hours or weekdays of a feed from its history.

pub mod entry_frequency;
pub mod indhist;
pub mod indhist_agg;
pub mod indhist_ttl;
pub mod lihz;
