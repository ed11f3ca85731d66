//! Queries, their matches and deliveries.

mod change;
mod deliveries;
mod past;
mod words;
