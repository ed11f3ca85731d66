//! `fix:D` — the same interval for every feed (dissertation 003, section 4.2.1).
//!
//! u = d.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! let policy: Policy = "fix:1h".parse().unwrap();
//! let seen = Observation::first(Time::from_secs(7200), &[]);
//! let wish = policy.wish(&policy.start(), &seen, &Bounds::EVALUATION);
//! assert_eq!(wish.at, Time::from_secs(10_800));
//! ```

use std::time::Duration;

use crate::policy::wish::Proposal;
use crate::{Fraction, RuleCase};

pub(crate) fn propose(every: Duration) -> Proposal {
    Proposal::After(Fraction::millis(every), RuleCase::Fix { every })
}
