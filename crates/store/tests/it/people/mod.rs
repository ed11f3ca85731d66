//! Accounts and commands of other processes.

mod accounts;
mod bulk;
mod feed_order;
mod limits;
mod machines;
mod moved_in;
mod private_feeds;
mod requests;
mod statistics;
mod subscriptions;
