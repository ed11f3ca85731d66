//! The servers, documents and processes that the tests work with.

pub mod certificate;
pub mod cut_relay;
pub mod database;
pub mod documents;
pub mod faults;
pub mod hub;
pub mod needed;
#[path = "../../../../xtask/src/postgres/server.rs"]
pub mod postgres_server;
pub mod program;
pub mod publisher;
pub mod receiver;
pub mod relay;
pub mod scene;
pub mod score;
pub mod served;
pub mod turns;
pub mod wire;
