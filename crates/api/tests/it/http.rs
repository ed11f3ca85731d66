//! The server, its metrics, and its answers while the store fails.

mod metrics;
mod server;
mod store_failures;
