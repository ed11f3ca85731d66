//! A strategy as people write it, with the price of a lost entry for `tide`.
//!
//! ```
//! use polling::budget::{Spender, Strategy};
//!
//! let careless: Spender = "tide:7d".parse().unwrap();
//! assert_eq!((careless.strategy, careless.to_string()), (Strategy::Tide, "tide:7d".to_owned()));
//! assert_eq!("tide:730d".parse(), Ok(Spender::from(Strategy::Tide)));
//! ```

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::budget::Strategy;
use crate::policy::tide::MISS;
use crate::spec::SpecError;
use crate::spec::{KnownName, Parameters};
use crate::written;

const PRICED: KnownName =
    KnownName { name: "tide", example: "tide:365d", needs: "the waiting that a lost entry costs" };

/// The cost of an entry that a window loses, as the waiting of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss(pub Duration);

impl Default for Miss {
    fn default() -> Miss {
        Miss(MISS)
    }
}

/// A strategy with its price of a miss, which only `tide` uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spender {
    pub strategy: Strategy,
    pub miss: Miss,
}

impl From<Strategy> for Spender {
    fn from(strategy: Strategy) -> Spender {
        Spender { strategy, miss: Miss::default() }
    }
}

impl fmt::Display for Spender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.miss {
            Miss(MISS) => self.strategy.fmt(f),
            Miss(miss) => write!(f, "{}:{}", self.strategy, written(miss)),
        }
    }
}

impl FromStr for Spender {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Spender, SpecError> {
        let Some(("tide", miss)) = text.split_once(':') else {
            return text.parse::<Strategy>().map(Spender::from);
        };
        let mut parameters = Parameters::new(text, &PRICED, Some(miss));
        let miss = Miss(parameters.duration()?);
        parameters.end(Spender { strategy: Strategy::Tide, miss })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_of_a_miss_is_read_and_shown_and_only_tide_has_one() {
        for text in ["tide", "tide:365d", "tide:90m", "two-steps"] {
            assert_eq!(text.parse::<Spender>().map(|s| s.to_string()), Ok(text.to_owned()));
        }
        for wrong in ["tide:", "tide:0s", "tide:1d,2d", "two-steps:1d", "tides"] {
            assert!(wrong.parse::<Spender>().is_err(), "{wrong}");
        }
    }
}
