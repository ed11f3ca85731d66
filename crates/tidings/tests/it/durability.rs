//! Nothing is lost: kills, full disks, replaced files, copies.

mod articles;
mod backup;
pub(crate) mod disk;
mod first_version;
mod migrate;
mod replaced;
mod rules;
mod server;
mod soak;
mod started;
mod takeover;
