//! The commands, one in each file.

pub mod backup;
pub mod budget;
pub mod config;
mod demo;
pub mod discover;
pub mod doctor;
pub mod entries;
pub mod export;
pub mod feed;
pub mod import;
pub mod lab;
pub mod manual;
pub mod parse;
pub mod query;
mod requests;
pub mod restore;
pub mod run;
pub mod user;
mod why;
