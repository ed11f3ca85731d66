//! The number of polls that a strategy may spend.

use std::str::FromStr;
use std::time::Duration;

use polling::budget::PollPrice;

/// A number of polls per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollAllowance {
    pub polls: usize,
    pub per: Duration,
}

impl PollAllowance {
    pub(super) fn per_cycle(&self, cycle: Duration) -> f64 {
        self.polls as f64 * cycle.as_secs_f64() / self.per.as_secs_f64()
    }

    /// Returns the same allowance for a period that is at least one cycle.
    pub(super) fn over_cycles(self, cycle: Duration) -> PollAllowance {
        if self.per >= cycle {
            return self;
        }
        PollAllowance { polls: self.per_cycle(cycle).round() as usize, per: cycle }
    }
}

/// A number of polls per period, or of units if a poll has a price. Written as `1000/1h` or
/// `1000/1h:1+20/MB+5/s`, as live.
///
/// ```
/// use lab::budget::PricedAllowance;
///
/// let priced: PricedAllowance = "1000/1h:1+20/MB".parse().unwrap();
/// assert_eq!((priced.allowance.polls, priced.price.is_some()), (1000, true));
/// assert!("1000/1h:free".parse::<PricedAllowance>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PricedAllowance {
    pub allowance: PollAllowance,
    pub price: Option<PollPrice>,
}

impl FromStr for PollAllowance {
    type Err = String;

    fn from_str(text: &str) -> Result<PollAllowance, String> {
        let refuse = || "not a budget; write polls and a time: 1000/1h".to_owned();
        let (polls, per) = text.split_once('/').ok_or_else(refuse)?;
        let polls: usize = polls.parse().map_err(|_| refuse())?;
        let per = polling::parse_duration(per).map_err(|e| e.to_string())?;
        if polls == 0 || per.is_zero() { Err(refuse()) } else { Ok(PollAllowance { polls, per }) }
    }
}

impl FromStr for PricedAllowance {
    type Err = String;

    fn from_str(text: &str) -> Result<PricedAllowance, String> {
        let (allowance, price) = match text.split_once(':') {
            Some((allowance, price)) => {
                let price = price.parse::<PollPrice>().map_err(|e| e.to_string())?;
                (allowance, Some(price))
            }
            None => (text, None),
        };
        Ok(PricedAllowance { allowance: allowance.parse()?, price })
    }
}
