//! Inputs that no lab run shows and a live instance may meet. Clocks are years ahead and set
//! right, several polls fall into one second, and many entries come at once. Windows have one entry
//! or thousands, and dates are of all centuries.

use std::time::Duration;

use feed::{Observation, Outcome, Time};
use polling::{Bounds, Learned, Policy};
use proptest::prelude::*;

use crate::properties::policies::{POLICIES, bounds};

/// The steps of a clock from one poll to the next, in milliseconds.
pub fn step() -> impl Strategy<Value = i64> {
    let year = 365 * 86_400_000_i64;
    prop_oneof![
        6 => 1_000..200_000_000_i64,
        2 => 0..1_000_i64,
        1 => Just(0_i64),
        1 => -200_000_000..0_i64,
        1 => Just(2 * year),
        1 => Just(70 * year),
        1 => Just(-70 * year),
        1 => -60 * year..60 * year,
    ]
}

/// A generated poll: the clock's step, the outcome, its entries and their dates.
#[derive(Clone, Debug)]
pub struct Odd {
    pub step_ms: i64,
    pub outcome: Outcome,
    /// Ages of new entries in milliseconds, and the number of entries of each age.
    pub ages: Vec<(i64, usize)>,
    pub window_max: usize,
    pub partial: bool,
    pub missed: bool,
    /// Whether late entries have a date.
    pub late: bool,
}

pub fn odd() -> impl Strategy<Value = Odd> {
    let outcome = prop_oneof![
        8 => Just(Outcome::Seen),
        1 => Just(Outcome::Unchanged),
        1 => Just(Outcome::Failed),
        1 => Just(Outcome::Gone),
    ];
    let age = prop_oneof![
        4 => 0..200_000_000_i64,
        2 => Just(0_i64),
        1 => -1_000_000_i64..0,
        1 => 0..2_000_000_000_000_i64,
        1 => prop_oneof![Just(i64::MAX / 2), Just(i64::MIN / 2), Just(253_000_000_000_000)],
    ];
    let n = prop_oneof![8 => 1..3_usize, 1 => 1..600_usize, 1 => Just(3000_usize)];
    let ages = prop::collection::vec((age, n), 0..6);
    let window_max = prop_oneof![4 => Just(20_usize), 1 => Just(1_usize), 1 => Just(10_000_usize)];
    (step(), outcome, ages, window_max, any::<[bool; 3]>()).prop_map(
        |(step_ms, outcome, ages, window_max, [partial, missed, late])| Odd {
            step_ms,
            outcome,
            ages,
            window_max,
            partial,
            missed,
            late,
        },
    )
}

/// The start of a clock: at the epoch, today, before the last year that can be shown.
pub fn starts() -> impl Strategy<Value = Time> {
    let secs = prop_oneof![Just(0_i64), Just(1_300_000_000), Just(253_360_000_000), Just(1)];
    (secs, 0..1000_i64).prop_map(|(secs, ms)| Time::from_secs(secs).shifted(ms))
}

/// Shows the polls as a live instance would: future dates are repaired, and dates before the last
/// poll are late.
pub fn show(start: Time, polls: &[Odd], mut each: impl FnMut(&Observation<'_>)) {
    let (mut at, mut last) = (start, None);
    let mut window: Vec<Time> = Vec::new();
    for odd in polls {
        // A system's clock stays between 1970 and 9998.
        at = at.shifted(odd.step_ms).clamp(Time::from_millis(0), Time::MAX);
        let (mut new, mut late) = (Vec::new(), Vec::new());
        if odd.outcome == Outcome::Seen {
            for (age, n) in &odd.ages {
                let date = at.shifted(age.saturating_neg()).clamp(Time::MIN, at);
                let is_late = last.is_some_and(|last| date < last);
                new.extend(std::iter::repeat_n(if is_late { at } else { date }, *n));
                late.extend(std::iter::repeat_n(date, if is_late && odd.late { *n } else { 0 }));
            }
            new.sort_unstable();
            late.sort_unstable();
            window.extend(&new);
            window.sort_unstable();
            window.drain(..window.len().saturating_sub(odd.window_max));
        }
        each(&Observation {
            overlap: 0,
            outcome: odd.outcome,
            suspected_miss: odd.missed,
            partial: odd.partial,
            late: &late,
            ..Observation::seen(at, &window, &new)
        });
        if odd.outcome.is_success() {
            last = Some(at);
        }
    }
}

/// Checks every wish. A poll sent at a fraction of a second may wait for the next whole one beyond
/// the longest interval.
pub fn check(spec: &str, policy: &Policy, learned: &Learned, o: &Observation<'_>, bounds: &Bounds) {
    let wish = policy.wish(learned, o, bounds);
    let interval = wish.at.since(o.at);
    assert!(wish.at > o.at && interval >= bounds.alpha, "{spec} {interval:?} {bounds:?}");
    assert!(interval < bounds.beta + Duration::from_secs(1), "{spec} {interval:?} {bounds:?}");
    assert!(!wish.why.words().is_empty() && wish.why.code().len() <= 60, "{spec}");
    assert!(learned.encode().len() <= 1024, "{spec} {}", learned.encode().len());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn no_clock_and_no_flood_moves_a_wish_out_of_its_bounds(
        start in starts(),
        polls in prop::collection::vec(odd(), 1..14),
        bounds in bounds(),
    ) {
        for spec in POLICIES {
            let policy: Policy = spec.parse().expect("known");
            let mut learned = policy.start();
            show(start, &polls, |o| {
                policy.learn(&mut learned, o);
                check(spec, &policy, &learned, o, &bounds);
                // Neither NaN nor infinity: such bytes would not be read again.
                let stored = learned.encode();
                assert!(Learned::decode(&policy, &stored).encode() == stored, "{spec}");
            });
        }
    }
}
