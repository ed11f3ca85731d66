//! Properties of every policy for any feed.

use std::time::Duration;

use feed::{Observation, Outcome, Time};
use polling::{Bounds, Learned, Policy};
use proptest::prelude::*;

/// One of each policy; those with much state in all variants.
pub const POLICIES: [&str; 25] = [
    "fix:1h",
    "fix-learned-w",
    "fix-learned-a",
    "adaptive-ttl:0.1",
    "adaptive-ttl:10",
    "lru-2",
    "mavsync",
    "mavsync:kappa=5s",
    "indhist:0.7",
    "indhist:100,week",
    "indhist-ttl:0.7,0.1,1h,2",
    "indhist-ttl:0.7,3,24h,2",
    "indhist-agg:0.7,0.5",
    "lihz:1.0",
    "advarss",
    "advarss-hybrid",
    "window-share:0.8",
    "window-left:3,periodic",
    "window-share:0.5,histogram",
    "window-left:0,changes",
    "entry-frequency",
    "empirical",
    "adaptive-fetch",
    "tide:55m",
    "window-share:0.7,tide",
];
/// A generated poll: the time since the one before, its outcome, and the ages of its new entries.
pub type Poll = (u64, u8, Vec<i64>, bool);

/// Ages in seconds: equal ones, from the future, years ago, before all calendars.
pub fn ages() -> impl Strategy<Value = Vec<i64>> {
    let age = prop_oneof![
        4 => 0_i64..100_000,
        2 => Just(0_i64),
        1 => -1_000_000_i64..0,
        1 => 0_i64..2_000_000_000,
        1 => prop_oneof![Just(i64::MAX / 2000), Just(i64::MIN / 2000)],
    ];
    prop::collection::vec(age, 0..30)
}

pub fn polls() -> impl Strategy<Value = Vec<Poll>> {
    let gap = prop_oneof![4 => 1_u64..200_000, 1 => 1_u64..10, 1 => 1_u64..200_000_000];
    prop::collection::vec((gap, 0_u8..8, ages(), any::<bool>()), 1..12)
}

pub fn bounds() -> impl Strategy<Value = Bounds> {
    (1_u64..10_000, 0_u64..10_000, 0_u64..3_000_000, any::<bool>()).prop_map(|(a, e, b, cause)| {
        let secs = Duration::from_secs;
        let bounds = Bounds::new(secs(a), secs(a + e + b), secs(a + e)).expect("ordered");
        if cause { bounds.by_cause() } else { bounds }
    })
}

/// Drives a policy through polls as the engine does; `check` sees each wish.
pub fn drive(
    policy: &Policy,
    bounds: &Bounds,
    polls: &[Poll],
    check: impl FnMut(&Observation<'_>, &Learned, polling::Wish),
) -> Learned {
    drive_from(policy.start(), policy, bounds, polls, check)
}

/// Does the same from a known state.
pub fn drive_from(
    mut learned: Learned,
    policy: &Policy,
    bounds: &Bounds,
    polls: &[Poll],
    mut check: impl FnMut(&Observation<'_>, &Learned, polling::Wish),
) -> Learned {
    let mut at = Time::from_secs(1_300_000_000);
    let mut window: Vec<Time> = Vec::new();
    for (gap, outcome, ages, partial) in polls {
        at = at + Duration::from_secs(*gap);
        let outcome = match outcome {
            0 => Outcome::Failed,
            1 => Outcome::Unchanged,
            2 => Outcome::Refused,
            _ => Outcome::Seen,
        };
        let mut new: Vec<Time> = Vec::new();
        if outcome == Outcome::Seen {
            new = ages.iter().map(|age| at.shifted(-age.saturating_mul(1000))).collect();
            new.sort_unstable();
            window.extend(&new);
            window.sort_unstable();
            window.drain(..window.len().saturating_sub(25));
        }
        let o = Observation {
            overlap: 0,
            outcome,
            partial: *partial,
            ..Observation::seen(at, &window, &new)
        };
        policy.learn(&mut learned, &o);
        let wish = policy.wish(&learned, &o, bounds);
        check(&o, &learned, wish);
    }
    learned
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn an_interval_is_never_outside_its_bounds_and_never_now(
        polls in polls(),
        bounds in bounds(),
    ) {
        for spec in POLICIES {
            let policy: Policy = spec.parse().expect("known");
            drive(&policy, &bounds, &polls, |o, _, wish| {
                let interval = wish.at.since(o.at);
                assert!(wish.at > o.at, "{spec}");
                assert!(interval >= bounds.alpha && interval <= bounds.beta, "{spec} {interval:?}");
                assert_eq!(wish.at.millis() % 1000, 0, "{spec}: whole seconds");
                assert!(wish.why.code().len() <= 60 && !wish.why.words().is_empty());
            });
        }
    }

    /// With κ = 0 and no default of their own, these rules have no unit of time.
    #[test]
    fn scaling_all_times_scales_the_intervals(
        mut ages in prop::collection::vec(0_i64..10_000_000, 0..20),
        factor in 2_i64..50,
        alpha in 1_u64..1000,
        more in (0_u64..10_000, 0_u64..1_000_000),
    ) {
        ages.sort_unstable_by_key(|age| std::cmp::Reverse(*age));
        for spec in ["fix-learned-w", "fix-learned-a", "adaptive-ttl:0.3", "lru-2", "mavsync"] {
            let policy: Policy = spec.parse().expect("known");
            let interval = |scale: i64| {
                let at = Time::from_secs(50_000_000 * scale);
                let window: Vec<Time> =
                    ages.iter().map(|age| at.shifted(-age * scale * 1000)).collect();
                let secs = |s: u64| Duration::from_secs(s * scale.unsigned_abs());
                let (eta, beta) = (alpha + more.0, alpha + more.0 + more.1);
                let bounds = Bounds::new(secs(alpha), secs(beta), secs(eta)).expect("ordered");
                let mut learned = policy.start();
                let o = crate::support::vectors::seen(at, &window);
                policy.learn(&mut learned, &o);
                policy.wish(&learned, &o, &bounds).exact.plus(-i128::from(at.millis()))
            };
            let scaled = interval(1).times(polling::Fraction::whole(factor.into()));
            assert_eq!(interval(factor), scaled, "{spec}");
        }
    }
}

/// A million entries within a second, and polls at leap seconds and changes of zone: all of them
/// are just times.
#[test]
fn floods_and_odd_moments_are_no_trouble() {
    let at: Time = "2016-12-31T23:59:59Z".parse().expect("a time");
    let flood: Vec<Time> = (0..1_000_000).map(|i| at.shifted(-1000 + i / 1000)).collect();
    for spec in POLICIES {
        let policy: Policy = spec.parse().expect("known");
        let mut learned = policy.start();
        for hours in 0..30 {
            let at = at + Duration::from_secs(hours * 3600);
            let o =
                crate::support::vectors::seen(at, if hours == 0 { &flood } else { &flood[..20] });
            policy.learn(&mut learned, &o);
            let wish = policy.wish(&learned, &o, &Bounds::EVALUATION);
            assert!(wish.at > at && learned.encode().len() <= 1024, "{spec}");
        }
    }
}
