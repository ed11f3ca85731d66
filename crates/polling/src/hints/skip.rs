//! Applies `skipHours` and `skipDays`: the hours and days at which a publisher asks not to be
//! polled.
//!
//! ```
//! use feed::{Hints, Time};
//! use polling::hints::{CacheHints, HintReading, apply};
//!
//! let at: Time = "2011-07-16T23:30:00Z".parse().unwrap();
//! let hints = Hints { skip_hours: vec![0, 1], ..Hints::default() };
//! let wish: Time = "2011-07-17T00:10:00Z".parse().unwrap();
//! let lower = HintReading::LowerBound;
//! let hinted = apply(wish, at, &hints, CacheHints::default(), &[], lower);
//! assert_eq!(hinted.at, "2011-07-17T02:00:00Z".parse().unwrap());
//! ```

use std::time::Duration;

use feed::{Hints, Time};

use super::{AsideReason, HintUsed, Hinted};

const HOUR: Duration = Duration::from_secs(3600);
const HOUR_SECS: i64 = 3600;
const DAY_SECS: i64 = 86_400;

/// Moves to the first time, in UTC, that neither `skipHours` nor `skipDays` excludes.
pub(super) fn apply(result: &mut Hinted, wish: Time, at: Time, hints: &Hints, window: &[Time]) {
    let hours = |h: i64| hints.skip_hours.iter().any(|s| i64::from(*s) == h);
    let days = |d: i64| hints.skip_days.iter().any(|s| i64::from(*s) == d);
    let every_hour = (0..24).all(hours);
    let every_day = (0..7).all(days);
    if every_hour || every_day {
        let hint = if every_hour { HintUsed::SkipHours } else { HintUsed::SkipDays };
        result.set_aside.get_or_insert((hint, AsideReason::Never));
    }
    let mut moved = result.at;
    let mut by = None;
    // One hour and one day are free, so a free hour comes within eight days.
    for _ in 0..8 * 24 {
        let secs = moved.secs();
        // 1970 began on a Thursday, day 3 of a week that begins on Monday.
        let day = (secs.div_euclid(DAY_SECS) + 3).rem_euclid(7);
        let hour = secs.rem_euclid(DAY_SECS) / HOUR_SECS;
        if !every_day && days(day) {
            moved = Time::from_secs((secs.div_euclid(DAY_SECS) + 1) * DAY_SECS);
            by = Some(HintUsed::SkipDays);
        } else if !every_hour && hours(hour) {
            moved = Time::from_secs(secs.div_euclid(HOUR_SECS) * HOUR_SECS) + HOUR;
            by = Some(HintUsed::SkipHours);
        } else {
            break;
        }
    }
    if let Some(hint) = by {
        result.move_to(moved, hint, wish, at, window);
    }
}
