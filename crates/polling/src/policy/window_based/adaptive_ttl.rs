//! `adaptive-ttl:M` — the older the newest entry, the longer the wait (dissertation 003, eq. 4.7).
//!
//! u = M · (τ_z − t_end), needs |W_z| ≥ 1. An entry published at the time of the poll gives 0, and
//! so α.
//!
//! ```
//! use feed::Time;
//! use polling::{Fraction, policy::adaptive_ttl};
//!
//! let window = [Time::from_secs(0)];
//! let u = adaptive_ttl::interval("0.1".parse().unwrap(), Time::from_secs(36_000), &window);
//! assert_eq!(u, Some(Fraction::whole(3_600_000)));
//! ```

use feed::{Observation, Time};

use crate::policy::wish::Proposal;
use crate::{Decimal, Fraction, RuleCase, UndefinedCause};

/// Returns eq. 4.7, in milliseconds; negative if the newest entry is from the future.
pub fn interval(factor: Decimal, at: Time, window: &[Time]) -> Option<Fraction> {
    let age = at.millis_since(*window.last()?);
    let (num, den) = factor.fraction().parts();
    Some(Fraction::new(num * i128::from(age), den))
}

pub(crate) fn propose(factor: Decimal, o: &Observation<'_>) -> Proposal {
    match (interval(factor, o.at, o.window), o.window.last()) {
        (Some(u), Some(&newest)) => Proposal::After(u, RuleCase::AdaptiveTtl { factor, newest }),
        _ => Proposal::Undefined(UndefinedCause::TooFew),
    }
}
