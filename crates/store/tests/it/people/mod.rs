//! Accounts and commands of other processes.

mod accounts;
mod requests;
