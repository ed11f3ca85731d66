//! Recordings: every poll with its messages, and every version of a document as it came. A
//! recording is a period; polls in it are never folded into daily sums.
//!
//! Versions are stored as differences ([`delta`]). This module decides nothing: the record of a
//! poll brings its messages, and the recording sets the limits.

mod delta;
pub(crate) mod listing;
pub(crate) mod period;
pub(crate) mod reading;
pub(crate) mod write;
