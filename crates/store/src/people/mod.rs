//! Rows that belong to people: accounts with their sessions and tokens, reading preferences, and
//! commands that another process leaves for the daemon.
//!
//! Nothing here checks a password or carries out a command.

pub(crate) mod accounts;
pub(crate) mod choices;
pub(crate) mod requests;
mod seat;
