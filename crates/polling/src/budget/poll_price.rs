//! One price per poll, from what it really costs: requests, bytes and the time of parsing
//! (dissertation 003, section 5.4.2). The operator sets the weights, in units of a currency.
//!
//! Written as `1+20/MB+5/s`: a request costs 1 unit, a megabyte 20, a second of parsing 5. A budget
//! with a price counts units instead of polls. A 304 then costs little more than its request, and a
//! document of a megabyte many times as much.
//!
//! ```
//! use polling::budget::{PollCost, PollPrice};
//! use std::time::Duration;
//!
//! let price: PollPrice = "1+20/MB+5/s".parse().unwrap();
//! let unchanged = PollCost { requests: 1, bytes: 400, parse: Duration::ZERO };
//! let large = PollCost { requests: 1, bytes: 1_000_000, parse: Duration::from_millis(200) };
//! assert_eq!((price.units(unchanged), price.units(large)), (1.008, 22.0));
//! ```

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Budget;
use crate::Decimal;

const MEGABYTE: f64 = 1e6;
/// The planner counts thousandths of a unit as whole numbers.
const PARTS: f64 = 1000.0;
/// The largest number of polls in a period, where requests cost nothing.
const POLLS_MAX: f64 = 1e9;

/// The resources that one poll used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PollCost {
    /// Requests, redirects included.
    pub requests: u32,
    /// Bytes on the wire.
    pub bytes: u64,
    /// The time of parsing.
    pub parse: Duration,
}

impl PollCost {
    /// The assumed cost of a poll before the first one. The size is the median of 200,000 recorded
    /// feeds (source 003, chapter 3). Such a document is parsed in about a millisecond.
    pub const UNKNOWN: PollCost =
        PollCost { requests: 1, bytes: 17_000, parse: Duration::from_millis(1) };

    /// Returns the cost of a poll of so many bytes. The time of parsing grows with the size.
    pub fn of_size(bytes: u64) -> PollCost {
        let size = bytes as f64 / PollCost::UNKNOWN.bytes as f64;
        PollCost { bytes, parse: PollCost::UNKNOWN.parse.mul_f64(size), ..PollCost::UNKNOWN }
    }
}

/// The weights of requests, megabytes and seconds of parsing, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollPrice {
    pub request: Decimal,
    pub megabyte: Decimal,
    pub parse_second: Decimal,
}

/// A text that is not a price.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a price; write units per request, megabyte and second of parsing: 1+20/MB+5/s"
)]
pub struct PriceError(String);

impl PollPrice {
    /// Returns the price of a poll, in units.
    pub fn units(&self, cost: PollCost) -> f64 {
        self.request.to_f64() * f64::from(cost.requests)
            + self.megabyte.to_f64() * cost.bytes as f64 / MEGABYTE
            + self.parse_second.to_f64() * cost.parse.as_secs_f64()
    }

    /// Returns the price in the whole numbers of a planner, at least 1.
    pub fn parts(&self, cost: PollCost) -> u64 {
        ((self.units(cost) * PARTS).round() as u64).max(1)
    }

    /// Returns the price in words: `1 for a request, 20 for a megabyte`.
    pub fn words(&self) -> String {
        let parts = [
            (self.request, "a request"),
            (self.megabyte, "a megabyte"),
            (self.parse_second, "a second of parsing"),
        ];
        let said = parts.into_iter().filter(|(weight, _)| !weight.is_zero());
        let said: Vec<String> = said.map(|(weight, of)| format!("{weight} for {of}")).collect();
        said.join(", ")
    }

    /// Returns the units of a number of parts.
    pub fn units_of(parts: f64) -> f64 {
        parts / PARTS
    }

    /// Returns the limits for a planner, from a budget that counts units. The planner limits the
    /// sum of the prices, where other budgets limit bytes. No more polls fit in than requests can
    /// be paid.
    pub fn limits(&self, units: &Budget) -> Budget {
        let polls = f64::from(units.polls) / self.request.to_f64();
        Budget {
            polls: if polls.is_finite() { polls.min(POLLS_MAX) as u32 } else { POLLS_MAX as u32 },
            per: units.per,
            bytes: Some((f64::from(units.polls) * PARTS) as u64),
        }
    }
}

impl fmt::Display for PollPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts =
            [(self.request, ""), (self.megabyte, "/MB"), (self.parse_second, "/s")].into_iter();
        let shown = parts.filter(|(weight, _)| !weight.is_zero());
        let shown: Vec<String> = shown.map(|(weight, per)| format!("{weight}{per}")).collect();
        f.write_str(&shown.join("+"))
    }
}

impl FromStr for PollPrice {
    type Err = PriceError;

    fn from_str(text: &str) -> Result<PollPrice, PriceError> {
        let refuse = || PriceError(text.chars().take(40).collect());
        let mut weights = [None; 3];
        for part in text.split('+') {
            let (number, place) = match part.trim().split_once('/') {
                None => (part.trim(), 0),
                Some((number, "MB")) => (number, 1),
                Some((number, "s")) => (number, 2),
                Some(_) => return Err(refuse()),
            };
            let weight: Decimal = number.parse().map_err(|_| refuse())?;
            if weights[place].replace(weight).is_some() {
                return Err(refuse());
            }
        }
        let none = Decimal::new(0, 0);
        let [request, megabyte, parse_second] = weights.map(|weight| weight.unwrap_or(none));
        let price = PollPrice { request, megabyte, parse_second };
        let is_free = [request, megabyte, parse_second].iter().all(|weight| weight.is_zero());
        if is_free { Err(refuse()) } else { Ok(price) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Planner, Strategy, Tracked};
    use super::*;
    use crate::model::{HourlyRates, Model};
    use feed::Time;

    #[test]
    fn prices_are_read_and_shown() {
        for text in ["1+20/MB+5/s", "1", "20/MB", "0.5+2.25/s", "1+20/MB"] {
            assert_eq!(text.parse::<PollPrice>().unwrap().to_string(), text);
        }
        for text in ["", "0", "1+1", "1/kB", "-1", "1+2/MB+3/MB", "x", "0/MB"] {
            assert!(text.parse::<PollPrice>().is_err(), "{text}");
        }
    }

    #[test]
    fn limits_count_units_and_the_polls_that_requests_allow() {
        let units: Budget = "600/1h".parse().unwrap();
        let limits = |price: &str| price.parse::<PollPrice>().unwrap().limits(&units);
        assert_eq!((limits("1+20/MB").polls, limits("1+20/MB").bytes), (600, Some(600_000)));
        assert_eq!(limits("0.5").polls, 1200);
        assert_eq!(limits("20/MB").polls, 1_000_000_000);
    }

    /// Twenty feeds post alike. A poll of an even one costs 1.2 units, of an odd one 21. Under
    /// every strategy the spent units stay within the budget. The strategies that weigh costs poll
    /// the cheap feeds more often; the root of the ratio is the optimum.
    #[test]
    fn units_are_kept_and_cheap_feeds_are_polled_more_often() {
        let price: PollPrice = "1+20/MB".parse().unwrap();
        let costs =
            [10_000, 1_000_000].map(|bytes| PollCost { requests: 1, bytes, parse: Duration::ZERO });
        for strategy in [Strategy::MinDelay, Strategy::Tide, Strategy::TwoSteps] {
            let mut planner = Planner::new(strategy, Duration::from_secs(60));
            planner.set_budget(Some(price.limits(&"600/1h".parse().unwrap())));
            for number in 0..20 {
                let cost = costs[number % 2];
                let rates = HourlyRates { hours: vec![0.002; 24], zone_secs: 0 };
                let last = Some(Time::from_secs(0));
                let cost = price.parts(cost) as f64;
                planner.track(Tracked { last, cost, ..Tracked::new(Model::Frozen(rates)) });
            }
            let mut polls = [0.0, 0.0];
            for minute in 1..=24 * 60 {
                let now = Time::from_secs(60 * minute);
                for number in planner.spend(now) {
                    polls[number % 2] += 1.0;
                    planner.note_bytes(number, price.parts(costs[number % 2]));
                    let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
                    planner.renew(number, seen, now);
                }
            }
            let units: f64 = polls.iter().zip(costs).map(|(n, cost)| n * price.units(cost)).sum();
            assert!(units <= 600.0 * 24.0 * 1.05, "{strategy:?}: {units} units, {polls:?}");
            assert!(units >= 600.0 * 24.0 * 0.7, "{strategy:?}: {units} units, {polls:?}");
            if strategy != Strategy::TwoSteps {
                assert!(polls[0] > 2.0 * polls[1], "{strategy:?}: {polls:?}");
            }
        }
    }
}
