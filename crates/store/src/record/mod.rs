//! Records polls: the result of one poll becomes rows in one transaction. Also the history of
//! polls, the proof that an entry is a copy of a known one, and the retention of old entries.
//!
//! Nothing here decides what is new or when the next poll is due: the record says it.

pub(crate) mod apply;
pub(crate) mod copies;
pub(crate) mod decision;
pub(crate) mod grants;
pub(crate) mod poll_history;
pub(crate) mod poll_record;
pub(crate) mod retention;
pub(crate) mod set;
mod values;

/// Earlier texts that are stored of one entry. Some feeds print the current time into every entry,
/// which edits all of them at every poll.
const REVISIONS_MAX: i64 = 24;
