//! Extreme inputs that no lab run shows.

mod budget;
pub mod polls;
pub mod stored;
