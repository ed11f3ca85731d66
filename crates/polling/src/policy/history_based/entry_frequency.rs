//! `entry-frequency`, `entry-frequency:F` — the rule of miniflux (v2.3, `ScheduleNextCheck` with
//! the scheduler `entry_frequency`).
//!
//! Over the entries published in the last seven days, c = ⌈7 d / ((max − min)/(count − 1))⌉ per
//! week; fewer than two, or all at one time: 0. The interval is 7 d/(c·F) within 5 minutes and 24
//! hours, 24 hours if c = 0. F is 1 by default. Hints apply afterwards, like for every policy.
//!
//! ```
//! use polling::policy::entry_frequency::weekly_count;
//!
//! // 8 entries, a day apart.
//! assert_eq!(weekly_count(8, 7 * 86_400), 7);
//! assert_eq!(weekly_count(1, 0), 0);
//! ```

use feed::Observation;

use crate::policy::recent::Recent;
use crate::policy::wish::Proposal;
use crate::{Decimal, Fraction, RuleCase};

const WEEK_SECS: i64 = 7 * 86_400;
const INTERVAL_MS: (i128, i128) = (5 * 60_000, 1440 * 60_000);
/// The bytes for the entries' gaps, which fill the kilobyte. For busier feeds the newest give the
/// mean.
const ROOM: usize = 960;

/// Returns the entries per week, from their number and the seconds between the first and the last.
pub fn weekly_count(n: usize, span_secs: i64) -> i64 {
    if n < 2 || span_secs <= 0 {
        return 0;
    }
    let gaps = n as i64 - 1;
    (WEEK_SECS * gaps + span_secs - 1) / span_secs
}

pub(crate) fn start() -> Recent {
    Recent::new(WEEK_SECS, ROOM)
}

pub(crate) fn propose(factor: Decimal, recent: &Recent, o: &Observation<'_>) -> Proposal {
    let count =
        recent.within(o.at).map_or(0, |(n, oldest, newest)| weekly_count(n, newest - oldest));
    let (num, den) = factor.fraction().parts();
    let (shortest, longest) = (Fraction::whole(INTERVAL_MS.0), Fraction::whole(INTERVAL_MS.1));
    let interval = if count == 0 || num == 0 {
        longest
    } else {
        let week = i128::from(WEEK_SECS) * 1000;
        Fraction::new(week * den, i128::from(count) * num).clamp(shortest, longest)
    };
    Proposal::After(interval, RuleCase::EntryFrequency { per_week: count })
}
