//! One command, one file.

pub mod budget;
mod demo;
pub mod discover;
pub mod doctor;
pub mod entries;
pub mod export;
pub mod feed;
pub mod import;
pub mod lab;
pub mod parse;
pub mod query;
mod requests;
pub mod run;
pub mod user;
mod why;
