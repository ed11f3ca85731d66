//! What the publisher asks for, applied to a wish (dissertation 003, section 5.2): `ttl`, `sy:`,
//! `max-age`, `Expires`, `skipHours`, `skipDays`.
//!
//! Hints move a wish later, never earlier; if several are given the latest allowed time wins. A
//! hint that would make us miss entries is set aside, and the page says so. `Retry-After` is no
//! hint: it is obeyed, by [`pace`](crate::pace).

use std::time::Duration;

use feed::{Hints, Time};

use crate::spoken;

/// Caches are told to keep things for years (16 were seen) by servers that mean "this URL is
/// static"; a feed is not. Nothing else that a server says about caching holds a look up longer.
pub const FRESHNESS_MAX: Duration = Duration::from_secs(86_400);
/// `ttl` counts minutes and is often written in seconds: a day's worth then reads as two months.
pub const TTL_MAX: Duration = Duration::from_secs(7 * 86_400);
/// A hint is set aside where it would let this share of the window pass unseen, in percent.
const MISS_SHARE_PERCENT: i128 = 80;

const HOUR: Duration = Duration::from_secs(3600);
const HOUR_SECS: i64 = 3600;
const DAY_SECS: i64 = 86_400;

/// What the response's headers said about caching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHints {
    pub max_age: Option<Duration>,
    pub expires: Option<Time>,
}

/// How hints are read (003, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintReading {
    Ignore,
    /// Not sooner than the publisher asks.
    LowerBound,
    /// Exactly when the publisher asks, where an interval is given.
    Exact,
}

/// One hint with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintUsed {
    Ttl(Duration),
    UpdateEvery(Duration),
    MaxAge(Duration),
    Expires(Time),
    SkipHours,
    SkipDays,
}

/// Why a hint was not followed, or not to the letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsideReason {
    /// By the window's own rate this share of it (in percent) would have passed unseen.
    WouldMiss { percent: u32 },
    /// Every hour or every day is excluded: that would mean never.
    Never,
    /// Longer than anybody means; followed up to this.
    Capped(Duration),
}

/// A wish after the hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hinted {
    pub at: Time,
    /// The hint that decided, if one did.
    pub followed: Option<HintUsed>,
    /// The hint that was not followed, if any, and why.
    pub set_aside: Option<(HintUsed, AsideReason)>,
}

/// Applies the hints that came with the poll `at` to a policy's `wish`. `window` holds the
/// publication times shown, oldest first.
pub fn apply(
    wish: Time,
    at: Time,
    hints: &Hints,
    cache: CacheHints,
    window: &[Time],
    reading: HintReading,
) -> Hinted {
    let mut result = Hinted { at: wish, followed: None, set_aside: None };
    let published = [hints.ttl.map(HintUsed::Ttl), hints.update_every.map(HintUsed::UpdateEvery)];
    match reading {
        HintReading::Ignore => return result,
        HintReading::LowerBound => {
            let cached =
                [cache.max_age.map(HintUsed::MaxAge), cache.expires.map(HintUsed::Expires)];
            let mut asked: Vec<(Time, HintUsed)> = published
                .into_iter()
                .chain(cached)
                .flatten()
                .map(|hint| (hint.not_before(at, &mut result), hint))
                .collect();
            asked.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
            for (time, hint) in asked {
                result.move_to(time, hint, wish, at, window);
            }
        }
        HintReading::Exact => {
            if let Some(hint) = published.into_iter().flatten().next() {
                result.at = hint.not_before(at, &mut result);
                result.followed = Some(hint);
            }
        }
    }
    skip(&mut result, wish, at, hints, window);
    result
}

/// `skipHours` and `skipDays`, in UTC: on to the first moment that neither excludes.
fn skip(result: &mut Hinted, wish: Time, at: Time, hints: &Hints, window: &[Time]) {
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

impl Hinted {
    /// Moves to a later time, unless entries would be missed by it.
    fn move_to(&mut self, time: Time, hint: HintUsed, wish: Time, at: Time, window: &[Time]) {
        if time <= self.at {
            return;
        }
        match missed_percent(at, time, window) {
            // Where the policy itself wished for as late a time, the hint is not to blame.
            Some(percent) if missed_percent(at, wish, window).is_none() => {
                self.set_aside.get_or_insert((hint, AsideReason::WouldMiss { percent }));
            }
            _ => {
                self.at = time;
                self.followed = Some(hint);
            }
        }
    }

    /// One sentence for the page, if a hint was followed or set aside.
    pub fn words(&self) -> Option<String> {
        let followed = self.followed.map(|hint| format!("{} was followed", hint.words()));
        let aside = self.set_aside.map(|(hint, reason)| {
            let hint = hint.words();
            match reason {
                AsideReason::WouldMiss { percent } => format!(
                    "{hint} was set aside: by then {percent} % of the window would be new, and \
                     entries might be missed"
                ),
                AsideReason::Never => format!("{hint} was set aside: it excludes every time"),
                AsideReason::Capped(most) => {
                    format!("{hint} was taken as {}: nobody means that long", spoken(most))
                }
            }
        });
        match (followed, aside) {
            (Some(a), Some(b)) => Some(format!("{a}; {b}")),
            (a, b) => a.or(b),
        }
    }
}

/// How much of the window is expected to be new at `time`, in percent, if it is most of it. The
/// rate is the window's own: its entries over the time since its oldest.
fn missed_percent(at: Time, time: Time, window: &[Time]) -> Option<u32> {
    let (Some(&oldest), 2..) = (window.first(), window.len()) else { return None };
    let age = i128::from(at.millis_since(oldest)).max(1);
    let percent = i128::from(time.millis_since(at)).max(0) * 100 / age;
    (percent >= MISS_SHARE_PERCENT).then(|| u32::try_from(percent).unwrap_or(u32::MAX))
}

impl HintUsed {
    /// The earliest moment that an interval hint allows; what is absurd is capped, and noted.
    fn not_before(self, at: Time, result: &mut Hinted) -> Time {
        let (wait, most) = match self {
            HintUsed::Ttl(d) | HintUsed::UpdateEvery(d) => (d, TTL_MAX),
            HintUsed::MaxAge(d) => (d, FRESHNESS_MAX),
            HintUsed::Expires(t) => (t.since(at), FRESHNESS_MAX),
            HintUsed::SkipHours | HintUsed::SkipDays => (Duration::ZERO, Duration::ZERO),
        };
        if wait > most {
            result.set_aside.get_or_insert((self, AsideReason::Capped(most)));
        }
        at + wait.min(most)
    }

    pub fn words(self) -> String {
        match self {
            HintUsed::Ttl(d) => format!("the feed's ttl of {}", spoken(d)),
            HintUsed::UpdateEvery(d) => format!("the feed's update period of {}", spoken(d)),
            HintUsed::MaxAge(d) => format!("the response's max-age of {}", spoken(d)),
            HintUsed::Expires(t) => format!("the response's Expires at {t}"),
            HintUsed::SkipHours => "the feed's skipHours".to_owned(),
            HintUsed::SkipDays => "the feed's skipDays".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn time(text: &str) -> Time {
        text.parse().unwrap()
    }

    fn lower(wish: Time, at: Time, hints: &Hints, cache: CacheHints, window: &[Time]) -> Hinted {
        apply(wish, at, hints, cache, window, HintReading::LowerBound)
    }

    /// The example of the source: a Saturday, 23:30.
    #[test]
    fn the_latest_allowed_time_wins() {
        let at = time("2011-07-16T23:30:00Z");
        let hints = Hints {
            ttl: Some(60 * MINUTE),
            skip_hours: vec![0, 1],
            skip_days: vec![6],
            update_every: None,
        };
        let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &[]);
        assert_eq!(hinted.at, time("2011-07-18T02:00:00Z"));
        assert_eq!(hinted.set_aside, None);
    }

    #[test]
    fn a_wish_later_than_every_hint_stays() {
        let at = time("2011-07-16T10:30:00Z");
        let hints = Hints { ttl: Some(60 * MINUTE), ..Hints::default() };
        let wish = at + 90 * MINUTE;
        let hinted = lower(wish, at, &hints, CacheHints::default(), &[]);
        assert_eq!((hinted.at, hinted.followed, hinted.words()), (wish, None, None));
    }

    #[test]
    fn a_hint_that_excludes_every_hour_or_day_is_ignored_with_a_warning() {
        let at = time("2011-07-16T10:30:00Z");
        let hints = Hints { skip_hours: (0..24).collect(), ..Hints::default() };
        let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &[]);
        assert_eq!(hinted.at, at + MINUTE);
        assert_eq!(hinted.set_aside, Some((HintUsed::SkipHours, AsideReason::Never)));
        let hints = Hints { skip_days: (0..7).collect(), skip_hours: vec![10], ..Hints::default() };
        let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &[]);
        assert_eq!(hinted.at, time("2011-07-16T11:00:00Z"));
        assert!(hinted.words().unwrap().contains("excludes every time"));
    }

    #[test]
    fn years_of_max_age_are_a_day() {
        let at = time("2011-07-16T10:30:00Z");
        let years = Duration::from_secs(16 * 365 * 86_400);
        for cache in [
            CacheHints { max_age: Some(years), expires: None },
            CacheHints { max_age: None, expires: Some(at + years) },
            CacheHints { max_age: None, expires: Some(Time::MAX) },
        ] {
            let hinted = lower(at + MINUTE, at, &Hints::default(), cache, &[]);
            assert_eq!(hinted.at, at + FRESHNESS_MAX);
            assert!(hinted.words().unwrap().contains("taken as 1 d"));
        }
        let past = CacheHints { max_age: None, expires: Some(Time::MIN) };
        assert_eq!(lower(at + MINUTE, at, &Hints::default(), past, &[]).at, at + MINUTE);
    }

    #[test]
    fn a_hint_that_would_make_us_miss_entries_is_set_aside() {
        let at = time("2011-07-16T10:00:00Z");
        let window: Vec<Time> = (1..=10).rev().map(|m| at - MINUTE * m).collect();
        let hints = Hints { ttl: Some(60 * MINUTE), ..Hints::default() };
        let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &window);
        assert_eq!(hinted.at, at + MINUTE);
        assert!(hinted.words().unwrap().contains("600 % of the window"));
        let slow: Vec<Time> = (1..=10).rev().map(|d| at - MINUTE * 1440 * d).collect();
        let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &slow);
        assert_eq!(hinted.at, at + 60 * MINUTE);
        assert_eq!(hinted.words().unwrap(), "the feed's ttl of 1 h was followed");
    }

    #[test]
    fn the_next_smaller_hint_holds_where_the_largest_is_set_aside() {
        let at = time("2011-07-16T10:00:00Z");
        let window: Vec<Time> = (1..=10).rev().map(|m| at - MINUTE * m).collect();
        let hints = Hints { ttl: Some(60 * MINUTE), ..Hints::default() };
        let cache = CacheHints { max_age: Some(5 * MINUTE), expires: None };
        let hinted = lower(at + MINUTE, at, &hints, cache, &window);
        assert_eq!(
            (hinted.at, hinted.followed),
            (at + 5 * MINUTE, Some(HintUsed::MaxAge(5 * MINUTE)))
        );
    }

    #[test]
    fn read_exactly_a_ttl_is_the_interval() {
        let at = time("2011-07-16T10:00:00Z");
        let hints = Hints { ttl: Some(60 * MINUTE), ..Hints::default() };
        let exact =
            |wish| apply(wish, at, &hints, CacheHints::default(), &[], HintReading::Exact).at;
        assert_eq!([exact(at + MINUTE), exact(at + 600 * MINUTE)], [at + 60 * MINUTE; 2]);
        let ignored =
            apply(at + MINUTE, at, &hints, CacheHints::default(), &[], HintReading::Ignore);
        assert_eq!(ignored.at, at + MINUTE);
    }
}
