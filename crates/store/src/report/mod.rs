//! Reports about the whole instance: totals, delays, the status for operators, and the checks of
//! `tidings doctor`.
//!
//! Nothing here changes or repairs a row.

pub(crate) mod check;
pub(crate) mod counts;
pub(crate) mod overview;
pub(crate) mod poll_sizes;
pub(crate) mod status;
