//! `empirical` — the rule of commafeed (7.3, `FeedRefreshIntervalCalculator`, empirical intervals
//! on).
//!
//! The longest interval max is 4 h, the shortest 5 min. No entry → max. The newest entry 30 days
//! old or more → max, 14 days → max/2, 7 days → max/4. Otherwise half of the mean gap within 5 min
//! and max/4; no gap → max. It reads everything from the window.
//!
//! ```
//! use feed::Time;
//! use polling::{Fraction, policy::empirical};
//!
//! let half_hourly = [0, 1800, 3600].map(Time::from_secs);
//! let u = empirical::interval(Time::from_secs(4000), &half_hourly);
//! assert_eq!(u, Fraction::whole(900_000));
//! let u = empirical::interval(Time::from_secs(4000 + 8 * 86_400), &half_hourly);
//! assert_eq!(u, Fraction::whole(3_600_000));
//! ```

use feed::{Observation, Time};

use crate::policy::wish::Proposal;
use crate::{Fraction, RuleCase, policy::fix_learned};

const SHORTEST_MS: i128 = 5 * 60_000;
const LONGEST_MS: i128 = 4 * 3_600_000;
const DAY_MS: i64 = 86_400_000;

/// Returns the interval of the rule, in milliseconds.
pub fn interval(at: Time, window: &[Time]) -> Fraction {
    let Some(newest) = window.last() else { return Fraction::whole(LONGEST_MS) };
    let age = at.millis_since(*newest);
    let quarter = Fraction::whole(LONGEST_MS / 4);
    if age >= 30 * DAY_MS {
        Fraction::whole(LONGEST_MS)
    } else if age >= 14 * DAY_MS {
        Fraction::whole(LONGEST_MS / 2)
    } else if age >= 7 * DAY_MS {
        quarter
    } else if window.len() < 2 {
        Fraction::whole(LONGEST_MS)
    } else {
        let mean_gap = fix_learned::interval_w(window).unwrap_or(Fraction::whole(0));
        mean_gap.times(Fraction::new(1, 2)).clamp(Fraction::whole(SHORTEST_MS), quarter)
    }
}

pub(crate) fn propose(o: &Observation<'_>) -> Proposal {
    let case = RuleCase::Empirical { newest: o.window.last().copied() };
    Proposal::After(interval(o.at, o.window), case)
}
