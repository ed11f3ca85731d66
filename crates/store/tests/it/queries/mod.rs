//! Queries, their matches and deliveries.

mod change;
mod deliveries;
