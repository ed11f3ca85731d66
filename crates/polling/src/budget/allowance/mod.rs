//! The part of a [`Budget`] that may be spent now, with exact carry from cycle to cycle and without
//! a burst after a sleep.
//!
//! Credit grows by polls·Δt/per. Its fraction is carried as an integer remainder: 7 an hour in
//! cycles of ten minutes are 7 in every hour, not 6. Credit never exceeds the earnings of two
//! cycles. A late cycle loses nothing, and a machine that slept for a day does not send a day's
//! polls at once. Only `tide` may shift polls within the budget's period ([`Saving`], module
//! `period`). Overspending is a debt that the next cycles pay, up to one period's worth: two-steps
//! has no limit, documents may be larger than expected, and people poll manually.
//!
//! Time and sizes are arguments.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Budget, allowance::{Allowance, Saving}};
//! use std::time::Duration;
//!
//! let budget: Budget = "7/1h".parse().unwrap();
//! let mut allowance = Allowance::default();
//! let cycle = Duration::from_secs(600);
//! let polls: Vec<usize> = (0..6)
//!     .map(|i| {
//!         let now = Time::from_secs(600 * i);
//!         let granted = allowance.grant(now, &budget, cycle, Saving::TwoCycles);
//!         allowance.spend(granted.polls, 0.0);
//!         granted.polls
//!     })
//!     .collect();
//! assert_eq!(polls, [1, 1, 1, 1, 1, 2]);
//! ```

mod credit;
mod period;

use std::time::Duration;

use feed::Time;

use self::credit::{Credit, CreditLimits};
pub(super) use self::period::merged_periods;
use crate::budget::{Budget, Strategy};
use crate::bytes::{ByteReader, put_time};

/// A cycle may be late by its own length before credit is lost.
pub(in crate::budget) const CYCLES_KEPT: u32 = 2;

/// How much of the earnings may be spent at another time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saving {
    /// The earnings of two cycles.
    TwoCycles,
    /// All earnings of a period, at any time within it; the rest expires at its end.
    WithinPeriod,
}

impl Saving {
    pub(in crate::budget) fn of(strategy: Strategy) -> Saving {
        if strategy == Strategy::Tide { Saving::WithinPeriod } else { Saving::TwoCycles }
    }
}

/// The amounts that may be spent in one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpendingGrant {
    pub polls: usize,
    /// The polls that would expire if they waited.
    pub expiring: usize,
    /// `None` if bytes are not limited.
    pub bytes: Option<u64>,
    /// The amounts that may be spent until the period ends, and the time until then.
    pub left: usize,
    pub bytes_left: Option<u64>,
    pub ends_in: Duration,
}

/// Credit that was earned and not yet spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// The time until which credit was earned.
    pub(in crate::budget) since: Option<Time>,
    pub(in crate::budget) polls: Credit,
    pub(in crate::budget) bytes: Credit,
}

impl Allowance {
    /// Returns what may be spent at `now`. The very first call grants one cycle's worth.
    pub fn grant(
        &mut self,
        now: Time,
        budget: &Budget,
        cycle: Duration,
        saving: Saving,
    ) -> SpendingGrant {
        let cycle = cycle.max(Duration::from_secs(1));
        let since = self.since.unwrap_or(now - cycle);
        match saving {
            Saving::TwoCycles => self.grant_cycle(now, since, budget, cycle),
            Saving::WithinPeriod => self.grant_period(now, since, budget, cycle),
        }
    }

    fn grant_cycle(
        &mut self,
        now: Time,
        since: Time,
        budget: &Budget,
        cycle: Duration,
    ) -> SpendingGrant {
        self.since = Some(now);
        let room = CreditLimits { kept: cycle * CYCLES_KEPT, owed: budget.per };
        self.earn(now.since(since), budget, room);
        let polls = usize::try_from(self.polls.whole.max(0)).unwrap_or(usize::MAX);
        let bytes = budget.bytes.map(|_| self.bytes.whole.max(0).unsigned_abs());
        SpendingGrant {
            polls,
            expiring: polls,
            bytes,
            left: polls,
            bytes_left: bytes,
            ends_in: cycle,
        }
    }

    pub(in crate::budget) fn earn(
        &mut self,
        elapsed: Duration,
        budget: &Budget,
        room: CreditLimits,
    ) {
        self.polls.earn(elapsed, u64::from(budget.polls), budget.per, room);
        if let Some(bytes) = budget.bytes {
            self.bytes.earn(elapsed, bytes, budget.per, room);
        }
    }

    /// Subtracts what the cycle spent, or what a poll cost beyond (or, negative, below)
    /// expectation.
    pub fn spend(&mut self, n_polls: usize, bytes: f64) {
        let n_polls = i64::try_from(n_polls).unwrap_or(i64::MAX);
        self.polls.whole = self.polls.whole.saturating_sub(n_polls);
        // The cast saturates, and turns NaN into 0.
        self.bytes.whole = self.bytes.whole.saturating_sub(bytes.round() as i64);
    }

    pub(crate) fn write(self, bytes: &mut Vec<u8>) {
        put_time(bytes, self.since);
        self.polls.write(bytes);
        self.bytes.write(bytes);
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>) -> Option<Allowance> {
        let since = reader.time()?;
        Some(Allowance { since, polls: Credit::read(reader)?, bytes: Credit::read(reader)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Saving = Saving::TwoCycles;

    fn spent(budget: &str, cycle: u64, n: u64) -> Vec<usize> {
        let (budget, cycle) = (budget.parse().unwrap(), Duration::from_secs(cycle));
        let mut allowance = Allowance::default();
        let mut each = Vec::new();
        for i in 0..n {
            let granted =
                allowance.grant(Time::from_secs(0) + cycle * i as u32, &budget, cycle, TWO);
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
        assert_eq!(allowance.grant(Time::from_secs(0), &budget, cycle, TWO).polls, 1);
        let later = Time::from_secs(1_000_000);
        let granted = allowance.grant(later, &budget, cycle, TWO);
        assert_eq!((granted.polls, granted.bytes), (2, Some(33_334)));
        allowance.spend(5, 40_000.0);
        let at = |s: u64| later + Duration::from_secs(s);
        assert_eq!(allowance.grant(at(60), &budget, cycle, TWO).polls, 0);
        assert_eq!(allowance.grant(at(180), &budget, cycle, TWO).polls, 0);
        assert_eq!(allowance.grant(at(240), &budget, cycle, TWO).polls, 1);
        // A debt of any size is forgotten after one period.
        allowance.spend(usize::MAX, f64::INFINITY);
        for minute in 5..=65 {
            allowance.grant(at(60 * minute), &budget, cycle, TWO);
        }
        assert_eq!(allowance.grant(at(3960), &budget, cycle, TWO).polls, 2);
    }

    #[test]
    fn a_clock_that_goes_back_earns_nothing_and_goes_on_from_there() {
        let (budget, cycle) = ("60/1h".parse().unwrap(), Duration::from_secs(60));
        let mut allowance = Allowance::default();
        let granted = allowance.grant(Time::from_secs(1000), &budget, cycle, TWO);
        allowance.spend(granted.polls, 0.0);
        assert_eq!(allowance.grant(Time::from_secs(0), &budget, cycle, TWO).polls, 0);
        assert_eq!(allowance.grant(Time::from_secs(59), &budget, cycle, TWO).polls, 0);
        assert_eq!(allowance.grant(Time::from_secs(60), &budget, cycle, TWO).polls, 1);
    }
}
