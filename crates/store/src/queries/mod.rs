//! Standing queries: their definitions, their matches by position, and the deliveries of those
//! matches.
//!
//! Nothing here decides whether a query matches an entry: `matching` asks the engine for that.

pub(crate) mod change;
pub(crate) mod deliveries;
pub(crate) mod entries;
pub(crate) mod match_set;
pub(crate) mod matches;
pub(crate) mod of_account;
pub(crate) mod replay;
