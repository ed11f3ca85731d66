//! The wish of a policy: when it would poll next, exactly and in whole seconds, and why.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! // Four entries in 29,302 seconds, 7,325.5 for each: half a second is rounded up.
//! let policy: Policy = "mavsync".parse().unwrap();
//! let window = [0, 3600, 7200, 10_800].map(Time::from_secs);
//! let seen = Observation::first(Time::from_secs(29_302), &window);
//! let mut learned = policy.start();
//! policy.learn(&mut learned, &seen);
//! let wish = policy.wish(&learned, &seen, &Bounds::EVALUATION);
//! assert_eq!((wish.at.secs(), wish.exact_nanos() % 1_000_000_000), (36_628, 500_000_000));
//! ```

use std::time::Duration;

use feed::{Observation, Time};

use crate::{Bounds, Fraction, Learned, Limit, RuleCase, UndefinedCause, Why};

/// The next poll that a policy wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// In whole seconds, rounded half up; always later than the observation.
    pub at: Time,
    /// Before rounding, in milliseconds since 1970.
    pub exact: Fraction,
    pub why: Why,
}

impl Wish {
    /// Returns the unrounded time in nanoseconds since 1970, rounded down.
    pub fn exact_nanos(&self) -> i128 {
        self.exact.floor_times(1_000_000)
    }
}

/// The result of a rule before bounds, default and rounding.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Proposal {
    /// Poll this many milliseconds after the last poll, within the bounds.
    After(Fraction, RuleCase),
    /// Poll at this time, which the rule itself kept within the bounds.
    At(Fraction, RuleCase),
    /// The rule's equation is undefined: η applies.
    Undefined(UndefinedCause),
}

impl Proposal {
    pub(crate) fn into_wish(self, learned: &Learned, o: &Observation<'_>, bounds: &Bounds) -> Wish {
        let at = i128::from(o.at.millis());
        let (exact, case, limit) = match self {
            Proposal::At(exact, case) => (exact, case, Limit::None),
            Proposal::After(interval, case) => {
                let (interval, limit) = bounds.clamp(interval);
                (interval.plus(at), case, limit)
            }
            Proposal::Undefined(cause) => {
                let (wait, cause) = default_interval(cause, learned, o, bounds);
                let (interval, limit) = bounds.clamp(Fraction::millis(wait));
                (interval.plus(at), RuleCase::Undefined { cause, wait }, limit)
            }
        };
        let next = not_sooner(exact.round_to_second(), o.at, bounds);
        Wish { at: next, exact, why: Why { case, limit, next } }
    }
}

/// Keeps α after rounding. A poll sent at a fraction of a second could be rounded to less than α
/// after it; it then moves to the next whole second. With whole seconds nothing changes.
fn not_sooner(next: Time, at: Time, bounds: &Bounds) -> Time {
    let earliest = at + bounds.alpha.min(bounds.beta).max(Bounds::ALPHA_MIN);
    if next >= earliest {
        return next;
    }
    let floor = earliest.floor_to_second();
    if floor < earliest { floor + Duration::from_secs(1) } else { floor }
}

/// A feed that never had an entry may be new and not used yet: a poll a day is enough.
const NEVER_AN_ENTRY: Duration = Duration::from_secs(86_400);
/// After this long without a first entry the feed is probably abandoned, and the wait is as long.
const NEVER_FOR_LONG: Duration = Duration::from_secs(7 * 86_400);

/// Returns η, refined by its cause if the bounds ask for it (003, section 5.4.1).
fn default_interval(
    cause: UndefinedCause,
    learned: &Learned,
    o: &Observation<'_>,
    bounds: &Bounds,
) -> (Duration, UndefinedCause) {
    let empty = o.window.is_empty();
    match learned.first_seen_at() {
        None => (bounds.eta, UndefinedCause::NotSeen),
        Some(_) if !empty => (bounds.eta, cause),
        Some(_) if learned.had_entry() => (bounds.eta, UndefinedCause::EmptyNow),
        Some(_) if !bounds.eta_by_cause => (bounds.eta, UndefinedCause::NeverAnEntry),
        Some(first) if o.at.since(first) >= NEVER_FOR_LONG => {
            (NEVER_FOR_LONG, UndefinedCause::NeverForLong)
        }
        Some(_) => (NEVER_AN_ENTRY, UndefinedCause::NeverAnEntry),
    }
}
