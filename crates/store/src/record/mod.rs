//! Records polls: the result of one poll becomes rows in one transaction. Also the history of
//! polls, the proof that an entry is a copy of a known one, and the retention of old entries.
//!
//! Nothing here decides what is new or when the next poll is due: the record says it.

pub(crate) mod apply;
pub(crate) mod copies;
pub(crate) mod decision;
pub(crate) mod poll_history;
pub(crate) mod poll_record;
pub(crate) mod retention;
mod values;
