//! Published examples and vectors of reference implementations.

pub mod adaptation;
mod advarss;
pub mod cycles;
mod min_delay;
mod models;
mod online;
pub mod periodic_readings;
pub mod population;
mod populations;
mod robustness;
mod steps;
mod table_two;
