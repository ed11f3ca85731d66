//! Rows that belong to people: accounts with their sessions, tokens and identities, reading
//! preferences, and commands that another process leaves for the daemon. Also the processes of the
//! instance.
//!
//! Nothing here checks a password or carries out a command.

pub(crate) mod account_list;
pub(crate) mod accounts;
pub(crate) mod belongings;
pub(crate) mod choices;
pub(crate) mod identities;
pub(crate) mod machines;
pub(crate) mod positions;
pub(crate) mod requests;
pub(crate) mod seat;
pub(crate) mod sessions;
pub(crate) mod share_targets;
