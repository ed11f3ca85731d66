//! Exact fractions, decimal parameters and durations as people write them. Floating point is not
//! used: one unit in the last place at the edge of an hour would move a poll by hours.

mod decimal;
mod duration;
mod fraction;

pub use decimal::{Decimal, DecimalError};
pub use duration::{DurationError, parse_duration, spoken, written};
pub use fraction::Fraction;
