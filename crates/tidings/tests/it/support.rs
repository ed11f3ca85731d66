//! The servers, documents and processes that the tests work with.

pub mod documents;
pub mod faults;
pub mod hub;
pub mod needed;
pub mod program;
pub mod publisher;
pub mod receiver;
pub mod score;
pub mod wire;
