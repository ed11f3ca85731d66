//! The commands: their output, their errors and their effects, with and without a daemon.

mod adding;
mod articles;
mod bulk;
mod calls;
mod configuration;
mod experiments;
mod lab;
mod listing;
mod log;
mod manual;
mod move_in;
mod papers;
mod pasting;
mod people;
mod queries;
mod reading;
mod subscriptions;
mod together;
mod units;
mod wanted;
