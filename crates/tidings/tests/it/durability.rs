//! Nothing is lost: kills, full disks, replaced files, copies.

mod backup;
mod disk;
mod migrate;
mod replaced;
mod soak;
mod started;
