//! The database file: connections, the writer thread, the pool of readers, the schema and its
//! migrations. Also the lock on the data folder, backups, and the conversion of values to columns.
//!
//! Modules outside this folder get a `conn` inside a transaction and run their SQL on it. They do
//! not open connections. This folder knows the schema, but not what the rows mean.

pub(crate) mod backup;
pub(crate) mod columns;
pub(crate) mod connection;
pub(crate) mod dialect;
pub(crate) mod entry_feeds;
pub(crate) mod file_identity;
pub(crate) mod integrity;
pub(crate) mod location;
pub(crate) mod lock;
pub(crate) mod metrics;
pub(crate) mod migrations;
pub(crate) mod number_lists;
pub(crate) mod off_thread;
pub(crate) mod open_file;
pub(crate) mod open_mode;
pub(crate) mod postgres;
pub(crate) mod readers;
pub(crate) mod schema;
pub(crate) mod sequence;
pub(crate) mod server_session;
pub(crate) mod sql;
pub(crate) mod transfer;
pub(crate) mod writer;

/// The name of the database file in a data folder.
pub(crate) const FILE_NAME: &str = "tidings.db";
