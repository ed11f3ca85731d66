//! What of a [`Budget`] may be spent now: exact carry from cycle to cycle, and no burst after a
//! sleep.
//!
//! Credit grows by polls·Δt/per; its fraction is carried as an integer remainder, so that 7 an hour
//! in cycles of ten minutes are 7 in every hour, not 6. Credit never exceeds what two cycles
//! earn: a cycle that came late loses nothing, a machine that slept for a day does not pour a day's
//! polls over the web. What was overspent (two-steps has no cap, a document was larger than
//! expected) is a debt that the next cycles pay, up to one period's worth.
//!
//! Pure accounting: time and sizes are arguments.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Budget, allowance::Allowance};
//! use std::time::Duration;
//!
//! let budget: Budget = "7/1h".parse().unwrap();
//! let mut allowance = Allowance::default();
//! let cycle = Duration::from_secs(600);
//! let polls: Vec<usize> = (0..6)
//!     .map(|i| {
//!         let granted = allowance.grant(Time::from_secs(600 * i), &budget, cycle);
//!         allowance.spend(granted.polls, 0.0);
//!         granted.polls
//!     })
//!     .collect();
//! assert_eq!(polls, [1, 1, 1, 1, 1, 2]);
//! ```

use std::time::Duration;

use feed::Time;

use super::Budget;
use crate::bytes::{Reader, put_time};

/// A cycle may come late by as much as it is long before credit is lost.
const CYCLES_KEPT: u32 = 2;

/// What may be spent in one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    pub polls: usize,
    /// `None` where bytes are not limited.
    pub bytes: Option<u64>,
}

/// What was earned and not yet spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    since: Option<Time>,
    polls: Credit,
    bytes: Credit,
}

/// Whole units, negative for a debt, and the rest of the next one in parts of the period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Credit {
    whole: i64,
    rest: u64,
    per_ms: u64,
}

impl Allowance {
    /// What may be spent at `now`; the very first call grants one cycle's worth.
    pub fn grant(&mut self, now: Time, budget: &Budget, cycle: Duration) -> Granted {
        let cycle = cycle.max(Duration::from_secs(1));
        let elapsed = self.since.map_or(cycle, |since| now.since(since));
        self.since = Some(now);
        self.polls.earn(elapsed, u64::from(budget.polls), budget.per, cycle);
        let bytes = budget.bytes.map(|bytes| {
            self.bytes.earn(elapsed, bytes, budget.per, cycle);
            self.bytes.whole.max(0).unsigned_abs()
        });
        let polls = usize::try_from(self.polls.whole.max(0)).unwrap_or(usize::MAX);
        Granted { polls, bytes }
    }

    /// Takes in what the cycle spent, or what a poll cost beyond (or, negative, below) expectation.
    pub fn spend(&mut self, n_polls: usize, bytes: f64) {
        let n_polls = i64::try_from(n_polls).unwrap_or(i64::MAX);
        self.polls.whole = self.polls.whole.saturating_sub(n_polls);
        // A float becomes the nearest integer there is; not a number becomes 0.
        self.bytes.whole = self.bytes.whole.saturating_sub(bytes.round() as i64);
    }

    pub(crate) fn write(self, bytes: &mut Vec<u8>) {
        put_time(bytes, self.since);
        for credit in [self.polls, self.bytes] {
            bytes.extend(credit.whole.to_le_bytes());
            bytes.extend(credit.rest.to_le_bytes());
            bytes.extend(credit.per_ms.to_le_bytes());
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Allowance> {
        let since = reader.time()?;
        let mut credit = || -> Option<Credit> {
            let whole = reader.i64()?;
            let rest = reader.bytes().map(u64::from_le_bytes)?;
            Some(Credit { whole, rest, per_ms: reader.bytes().map(u64::from_le_bytes)? })
        };
        Some(Allowance { since, polls: credit()?, bytes: credit()? })
    }
}

impl Credit {
    fn earn(&mut self, elapsed: Duration, amount: u64, per: Duration, cycle: Duration) {
        let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        let per_ms = ms(per).max(1);
        if self.per_ms != per_ms {
            // The parts of another period are none of this one; less than one unit is forgotten.
            (self.per_ms, self.rest) = (per_ms, 0);
        }
        let kept_ms = ms(cycle * CYCLES_KEPT);
        let product = u128::from(amount) * u128::from(ms(elapsed)) + u128::from(self.rest);
        let (earned, rest) = (product / u128::from(per_ms), product % u128::from(per_ms));
        // Below the divisor, which is a u64.
        self.rest = rest as u64;
        let most = (u128::from(amount) * u128::from(kept_ms)).div_ceil(u128::from(per_ms));
        let most = i64::try_from(most).unwrap_or(i64::MAX).max(i64::from(amount > 0));
        let debt_max = i64::try_from(amount).unwrap_or(i64::MAX).saturating_neg();
        let earned = i64::try_from(earned).unwrap_or(i64::MAX);
        self.whole = self.whole.max(debt_max).saturating_add(earned).min(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(budget: &str, cycle: u64, n: u64) -> Vec<usize> {
        let (budget, cycle) = (budget.parse().unwrap(), Duration::from_secs(cycle));
        let mut allowance = Allowance::default();
        let mut each = Vec::new();
        for i in 0..n {
            let granted = allowance.grant(Time::from_secs(0) + cycle * i as u32, &budget, cycle);
            allowance.spend(granted.polls, 0.0);
            each.push(granted.polls);
        }
        each
    }

    #[test]
    fn every_hour_gets_its_polls_whatever_the_cycle() {
        for (budget, per_hour) in [("7/1h", 7), ("1000/1h", 1000), ("1/2h", 1), ("11/10m", 66)] {
            for cycle in [1, 7, 60, 600, 900] {
                let n = 7200 / cycle;
                let polls: usize = spent(budget, cycle, n).iter().sum();
                let hours = if budget == "1/2h" { 1 } else { 2 };
                let whole = per_hour * hours;
                // The first call is paid in advance, so that a whole period is complete at its end.
                let lost = (n * cycle < 7200) as usize * (whole / 100 + 1);
                assert!((whole - lost..=whole).contains(&polls), "{budget} {cycle} {polls}");
            }
        }
    }

    #[test]
    fn a_sleep_is_no_burst_and_a_debt_is_paid() {
        let (budget, cycle) = ("60/1h,1MB".parse().unwrap(), Duration::from_secs(60));
        let mut allowance = Allowance::default();
        assert_eq!(allowance.grant(Time::from_secs(0), &budget, cycle).polls, 1);
        let later = Time::from_secs(1_000_000);
        let granted = allowance.grant(later, &budget, cycle);
        assert_eq!((granted.polls, granted.bytes), (2, Some(33_334)));
        allowance.spend(5, 40_000.0);
        let at = |s: u64| later + Duration::from_secs(s);
        assert_eq!(allowance.grant(at(60), &budget, cycle).polls, 0);
        assert_eq!(allowance.grant(at(180), &budget, cycle).polls, 0);
        assert_eq!(allowance.grant(at(240), &budget, cycle).polls, 1);
        // However large, a debt is forgotten after one period.
        allowance.spend(usize::MAX, f64::INFINITY);
        for minute in 5..=65 {
            allowance.grant(at(60 * minute), &budget, cycle);
        }
        assert_eq!(allowance.grant(at(3960), &budget, cycle).polls, 2);
    }

    #[test]
    fn a_clock_that_goes_back_earns_nothing_and_goes_on_from_there() {
        let (budget, cycle) = ("60/1h".parse().unwrap(), Duration::from_secs(60));
        let mut allowance = Allowance::default();
        let granted = allowance.grant(Time::from_secs(1000), &budget, cycle);
        allowance.spend(granted.polls, 0.0);
        assert_eq!(allowance.grant(Time::from_secs(0), &budget, cycle).polls, 0);
        assert_eq!(allowance.grant(Time::from_secs(59), &budget, cycle).polls, 0);
        assert_eq!(allowance.grant(Time::from_secs(60), &budget, cycle).polls, 1);
    }
}
