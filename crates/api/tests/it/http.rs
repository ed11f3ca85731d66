//! The server, its metrics, and its answers while the store fails.

mod away;
mod metrics;
mod server;
mod store_failures;
