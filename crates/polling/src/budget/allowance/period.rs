//! Spending within a budget's period: an hour, a day or a week in UTC. Weeks begin on Mondays, and
//! parts of a day at midnight.
//!
//! - No period has more polls than the budget. Its earnings may be spent at any time within it,
//!   also in advance; the rest expires at its end.
//! - No cycle spends more than three times its even share, of the budget or of the rest. Neither a
//!   new period nor a restart is therefore a burst, and the rest never runs out at once.
//! - In the last part of a period the rest is spent evenly, so that little expires.
//! - The earnings of a sleep of more than two cycles are lost: a machine that was off for half a
//!   day has half a day's polls left.
//!
//! The strategy chooses the feeds.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Budget, allowance::{Allowance, Saving}};
//! use std::time::Duration;
//!
//! // A day's budget that begins at six in the evening has a quarter of itself left.
//! let budget: Budget = "1440/1d".parse().unwrap();
//! let (evening, cycle) = (Time::from_secs(18 * 3600), Duration::from_secs(60));
//! let granted = Allowance::default().grant(evening, &budget, cycle, Saving::WithinPeriod);
//! assert_eq!((granted.left, granted.ends_in.as_secs()), (361, 6 * 3600));
//! assert_eq!(granted.polls, 3, "not all at once");
//! ```

use std::time::Duration;

use feed::Time;

use super::credit::{Credit, CreditLimits};
use super::{Allowance, CYCLES_KEPT, SpendingGrant};
use crate::budget::Budget;

/// The most even shares that one cycle may spend.
const SHARES_MAX: u32 = 3;
/// The rest is spent evenly in the last of this many parts of a period, and for at least this many
/// cycles.
const PARTS: u32 = 24;
const LAST_CYCLES: u32 = 3;
/// A period with fewer cycles leaves no choice of when to spend.
const CYCLES_MIN: u32 = 6;
/// The first Monday of 1970, in milliseconds.
const MONDAY_MS: i64 = 4 * 86_400_000;

/// Returns the budget with short periods merged into one.
pub(in crate::budget) fn merged_periods(budget: &Budget, cycle: Duration) -> Budget {
    budget.over(cycle * CYCLES_MIN)
}

/// Returns when the current period of this length began, and the time until its end.
fn around(now: Time, per: Duration) -> (Time, Duration) {
    let per_ms = i64::try_from(per.as_millis()).unwrap_or(i64::MAX).max(1);
    let gone = now.shifted(-MONDAY_MS).millis().rem_euclid(per_ms);
    (now.shifted(-gone), Duration::from_millis((per_ms - gone).unsigned_abs()))
}

impl Allowance {
    /// Returns what may be spent at `now` within this period. Credit was earned until `since`.
    pub(in crate::budget) fn grant_period(
        &mut self,
        now: Time,
        since: Time,
        budget: &Budget,
        cycle: Duration,
    ) -> SpendingGrant {
        let (began, ends_in) = around(now, budget.per);
        let slept = now.since(since) > cycle * CYCLES_KEPT;
        let kept = if slept { cycle * CYCLES_KEPT } else { budget.per };
        // Spending in advance is never forgiven as a debt.
        let room = CreditLimits { kept, owed: budget.per.saturating_mul(2) };
        if since < began {
            self.earn(began.since(since), budget, room);
            self.polls.begin();
            self.bytes.begin();
        }
        self.earn(now.since(since.max(began)), budget, room);
        // A clock that is set back within a period earns no second twice.
        let earned_until = if since < now + ends_in { since.max(now) } else { now };
        self.since = Some(earned_until);
        let to_come = ends_in.saturating_sub(earned_until.since(now));
        let ahead = |credit: &Credit, amount| credit.ahead(amount, budget.per, to_come);
        let left = ahead(&self.polls, budget.polls.into());
        let bytes_left = budget.bytes.map(|bytes| ahead(&self.bytes, bytes));
        let cycles = PeriodCycle { cycle, per: budget.per, ends_in };
        let polls = cycles.most(left, budget.polls.into());
        let expiring = cycles.least(left, budget.polls.into()).min(polls);
        let bytes = bytes_left.zip(budget.bytes).map(|(left, bytes)| cycles.most(left, bytes));
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (polls, expiring, left) = (count(polls), count(expiring), count(left));
        SpendingGrant { polls, expiring, bytes, left, bytes_left, ends_in }
    }
}

/// The current cycle of a period.
struct PeriodCycle {
    cycle: Duration,
    per: Duration,
    ends_in: Duration,
}

impl PeriodCycle {
    /// Returns how much of the rest `left` may be spent in this cycle; `amount` is that of the
    /// whole period.
    fn most(&self, left: u64, amount: u64) -> u64 {
        left.min(self.shares(amount, self.per)).min(self.shares(left, self.ends_in))
    }

    /// Returns how much of it should be spent.
    fn least(&self, left: u64, amount: u64) -> u64 {
        let (cycle, ends_in) = (self.cycle.as_millis().max(1), self.ends_in.as_millis().max(1));
        let last_part = (self.per / PARTS).max(self.cycle * LAST_CYCLES);
        let evenly = if self.ends_in <= last_part { u128::from(left) * cycle / ends_in } else { 0 };
        // The rest that exceeds what the later cycles may spend.
        let later = u64::try_from(ends_in.div_ceil(cycle) - 1).unwrap_or(u64::MAX);
        let spent_later = self.shares(amount, self.per).saturating_mul(later);
        u64::try_from(evenly).unwrap_or(u64::MAX).max(left.saturating_sub(spent_later))
    }

    /// Returns the largest spending of a cycle as even shares of `stretch`, rounded up.
    fn shares(&self, amount: u64, stretch: Duration) -> u64 {
        let shares = u128::from(amount) * self.cycle.as_millis() * u128::from(SHARES_MAX);
        u64::try_from(shares.div_ceil(stretch.as_millis().max(1))).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_begin_when_the_clock_says_so() {
        // A Thursday, 10:20:30.
        let now = Time::from_secs(1_700_130_030);
        for (per, gone) in [(3600, 1230), (21_600, 15_630), (86_400, 37_230), (604_800, 296_430)] {
            let (began, to_come) = around(now, Duration::from_secs(per));
            assert_eq!((now.since(began).as_secs(), to_come.as_secs()), (gone, per - gone));
        }
        assert_eq!(around(Time::from_secs(-1), Duration::from_secs(86_400)).1.as_secs(), 1);
    }
}
