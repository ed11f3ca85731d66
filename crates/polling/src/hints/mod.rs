//! Applies the publisher's hints to a wish (dissertation 003, section 5.2): `ttl`, `sy:`,
//! `max-age`, `Expires`, `skipHours`, `skipDays`.
//!
//! Hints move a wish later, never earlier; of several the latest allowed time wins. A hint that
//! would make us miss entries is ignored, and the page says so. `Retry-After` is not a hint:
//! [`pace`](crate::pace) always obeys it.
//!
//! ```
//! use feed::{Hints, Time};
//! use polling::hints::{CacheHints, HintReading, apply};
//! use std::time::Duration;
//!
//! let at: Time = "2011-07-16T10:00:00Z".parse().unwrap();
//! let hints = Hints { ttl: Some(Duration::from_secs(3600)), ..Hints::default() };
//! let wish = at + Duration::from_secs(60);
//! let lower = HintReading::LowerBound;
//! let hinted = apply(wish, at, &hints, CacheHints::default(), &[], lower);
//! assert_eq!(hinted.at, at + Duration::from_secs(3600));
//! assert_eq!(hinted.words().unwrap(), "the feed's ttl of 1 h was followed");
//! ```

mod skip;
mod words;

use std::time::Duration;

use feed::{Hints, Time};

/// The longest wait for a cache header. Servers set up to 16 years for "this URL is static", which
/// a feed is not.
pub const FRESHNESS_MAX: Duration = Duration::from_secs(86_400);
/// The longest `ttl`. It counts minutes and is often written in seconds: a day's worth then reads
/// as two months.
pub const TTL_MAX: Duration = Duration::from_secs(7 * 86_400);
/// A hint is ignored if this share of the window, in percent, would pass unseen.
const MISS_SHARE_PERCENT: i128 = 80;

/// The caching headers of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHints {
    pub max_age: Option<Duration>,
    pub expires: Option<Time>,
}

/// The interpretation of hints (003, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintReading {
    Ignore,
    /// Not sooner than the publisher asks.
    LowerBound,
    /// Exactly when the publisher asks, if an interval is given.
    Exact,
}

/// One hint with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintUsed {
    Ttl(Duration),
    /// The update period, and a moment from which whole periods count (`sy:updateBase`).
    UpdateEvery(Duration, Option<Time>),
    MaxAge(Duration),
    Expires(Time),
    SkipHours,
    SkipDays,
}

/// The reason why a hint was not followed, or not exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsideReason {
    /// By the window's own rate this share of it (in percent) would have passed unseen.
    WouldMiss { percent: u32 },
    /// Every hour or every day is excluded: that would mean never.
    Never,
    /// The hint was longer than plausible and followed up to this wait.
    Capped(Duration),
}

/// A wish after the hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hinted {
    pub at: Time,
    /// The hint that decided, if any.
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
    let every = hints.update_every.map(|d| HintUsed::UpdateEvery(d, hints.update_base));
    let published = [hints.ttl.map(HintUsed::Ttl), every];
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
    skip::apply(&mut result, wish, at, hints, window);
    result
}

impl Hinted {
    /// Moves to a later time, unless entries would be missed.
    fn move_to(&mut self, time: Time, hint: HintUsed, wish: Time, at: Time, window: &[Time]) {
        if time <= self.at {
            return;
        }
        match missed_percent(at, time, window) {
            // The policy itself wished for as late a time, so the hint is not the reason.
            Some(percent) if missed_percent(at, wish, window).is_none() => {
                self.set_aside.get_or_insert((hint, AsideReason::WouldMiss { percent }));
            }
            _ => {
                self.at = time;
                self.followed = Some(hint);
            }
        }
    }
}

/// Returns the share of the window that is expected to be new at `time`, in percent, if it is most
/// of it. The rate is the window's own: its entries over the time since its oldest.
fn missed_percent(at: Time, time: Time, window: &[Time]) -> Option<u32> {
    let (Some(&oldest), 2..) = (window.first(), window.len()) else { return None };
    let age = i128::from(at.millis_since(oldest)).max(1);
    let percent = i128::from(time.millis_since(at)).max(0) * 100 / age;
    (percent >= MISS_SHARE_PERCENT).then(|| u32::try_from(percent).unwrap_or(u32::MAX))
}

/// Returns the time until the next update of a publisher that updates at whole periods from `base`.
fn until_update(at: Time, every: Duration, base: Time) -> Duration {
    let every_ms = i64::try_from(every.as_millis()).unwrap_or(i64::MAX).max(1);
    let since_ms = at.millis_since(base).rem_euclid(every_ms);
    Duration::from_millis((every_ms - since_ms).unsigned_abs())
}

impl HintUsed {
    /// Returns the earliest time that an interval hint allows. Implausible values are capped, and
    /// noted.
    fn not_before(self, at: Time, result: &mut Hinted) -> Time {
        let (wait, most) = match self {
            HintUsed::Ttl(d) | HintUsed::UpdateEvery(d, None) => (d, TTL_MAX),
            HintUsed::UpdateEvery(d, Some(base)) => (until_update(at, d, base), TTL_MAX),
            HintUsed::MaxAge(d) => (d, FRESHNESS_MAX),
            HintUsed::Expires(t) => (t.since(at), FRESHNESS_MAX),
            HintUsed::SkipHours | HintUsed::SkipDays => (Duration::ZERO, Duration::ZERO),
        };
        if wait > most {
            result.set_aside.get_or_insert((self, AsideReason::Capped(most)));
        }
        at + wait.min(most)
    }
}
