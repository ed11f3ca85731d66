//! Accounts and commands of other processes.

mod accounts;
mod bulk;
mod machines;
mod moved_in;
mod requests;
mod statistics;
mod subscriptions;
