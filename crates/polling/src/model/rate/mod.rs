//! Rates that repeat with a period, and their integrals. Models learn them.

mod day;
mod rates;
mod repeating_rate;
pub mod slots;

pub(super) use rates::HOUR_MS;
pub use rates::HourlyRates;
pub(crate) use repeating_rate::RepeatingRate;
