//! The commands, one in each file.

pub mod article;
pub mod backup;
pub mod budget;
pub mod config;
pub mod dataset;
mod demo;
pub mod discover;
pub mod doctor;
pub mod entries;
pub mod export;
pub mod feed;
pub mod import;
pub mod lab;
pub mod machines;
pub mod manual;
pub mod migrate;
pub mod move_in;
pub mod parse;
pub mod query;
pub mod record;
mod requests;
pub mod restore;
pub mod rule;
pub mod run;
pub mod tag;
pub mod user;
mod why;
