//! The database file: commits, crashes, full disks, backups.

mod backup;
mod concurrent;
mod everything;
mod files;
pub mod full_disk;
mod guests;
mod killed;
mod leap;
mod migrate;
mod migrate_older;
mod races;
mod signals;
