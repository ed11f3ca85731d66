//! Polls or bytes that were earned and not yet spent, exact to the fraction.
//! [`Allowance`](super::Allowance) keeps one of each.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Budget, allowance::{Allowance, Saving}};
//! use std::time::Duration;
//!
//! // A third of a poll each minute: none is lost to rounding.
//! let budget: Budget = "20/1h".parse().unwrap();
//! let mut allowance = Allowance::default();
//! let polls: usize = (0..=60)
//!     .map(|minute| {
//!         let (now, cycle) = (Time::from_secs(60 * minute), Duration::from_secs(60));
//!         let granted = allowance.grant(now, &budget, cycle, Saving::TwoCycles).polls;
//!         allowance.spend(granted, 0.0);
//!         granted
//!     })
//!     .sum();
//! assert_eq!(polls, 20);
//! ```

use std::time::Duration;

use crate::bytes::ByteReader;

/// Whole units, negative for a debt, and the rest of the next one in parts of the period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::budget) struct Credit {
    pub(in crate::budget) whole: i64,
    rest: u64,
    per_ms: u64,
}

/// The most that may be kept and owed, as the time that earns it.
#[derive(Clone, Copy, Debug)]
pub(in crate::budget) struct CreditLimits {
    pub(in crate::budget) kept: Duration,
    pub(in crate::budget) owed: Duration,
}

/// Returns the amount that is earned in `stretch`, rounded up.
fn within(amount: u64, per: Duration, stretch: Duration) -> i64 {
    let earned = u128::from(amount) * stretch.as_millis();
    i64::try_from(earned.div_ceil(per.as_millis().max(1))).unwrap_or(i64::MAX)
}

impl Credit {
    /// Returns the amount that may be spent if that of the coming `stretch` is spent in advance.
    pub(in crate::budget) fn ahead(&self, amount: u64, per: Duration, stretch: Duration) -> u64 {
        let coming = u128::from(amount) * stretch.as_millis() + u128::from(self.rest);
        let coming = i64::try_from(coming / per.as_millis().max(1)).unwrap_or(i64::MAX);
        self.whole.saturating_add(coming).max(0).unsigned_abs()
    }

    /// Begins a new period: savings expire, debts stay.
    pub(in crate::budget) fn begin(&mut self) {
        if self.whole >= 0 {
            (self.whole, self.rest) = (0, 0);
        }
    }

    /// Adds the earnings of the elapsed time at `amount` per `per`, within the limits of `room`.
    pub(in crate::budget) fn earn(
        &mut self,
        elapsed: Duration,
        amount: u64,
        per: Duration,
        room: CreditLimits,
    ) {
        let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        let per_ms = ms(per).max(1);
        if self.per_ms != per_ms {
            // Fractions of another period do not convert; less than one unit is lost.
            (self.per_ms, self.rest) = (per_ms, 0);
        }
        let product = u128::from(amount) * u128::from(ms(elapsed)) + u128::from(self.rest);
        let (earned, rest) = (product / u128::from(per_ms), product % u128::from(per_ms));
        // Below the divisor, which is a u64.
        self.rest = rest as u64;
        let most = within(amount, per, room.kept).max(i64::from(amount > 0));
        let debt_max = within(amount, per, room.owed).saturating_neg();
        let earned = i64::try_from(earned).unwrap_or(i64::MAX);
        self.whole = self.whole.max(debt_max).saturating_add(earned).min(most);
    }

    pub(in crate::budget) fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.whole.to_le_bytes());
        bytes.extend(self.rest.to_le_bytes());
        bytes.extend(self.per_ms.to_le_bytes());
    }

    pub(in crate::budget) fn read(reader: &mut ByteReader<'_>) -> Option<Credit> {
        let whole = reader.i64()?;
        let rest = reader.bytes().map(u64::from_le_bytes)?;
        Some(Credit { whole, rest, per_ms: reader.bytes().map(u64::from_le_bytes)? })
    }
}
