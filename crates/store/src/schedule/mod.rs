//! The stored schedule: which feed is due when, the input of its next poll, and changes of the
//! schedule that are not polls.
//!
//! Nothing here decides which due feed is polled first.

pub(crate) mod due;
pub(crate) mod replan;
