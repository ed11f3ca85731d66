//! One command, one file.

pub mod discover;
pub mod doctor;
pub mod entries;
pub mod export;
pub mod feed;
pub mod import;
pub mod parse;
pub mod run;
mod demo;
mod requests;
mod why;
