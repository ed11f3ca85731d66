//! Learned state is small, stored and read back without loss, reproduced by replay, and never
//! trusted. Trained policies keep their bounds.

use std::time::Duration;

use feed::Time;
use polling::policy::Training;
use polling::{Bounds, Learned, Policy};
use proptest::prelude::*;

use crate::properties::policies::{POLICIES, ages, bounds, drive, drive_from, polls};

/// The policies whose state takes at most 64 bytes.
const SIMPLE: [&str; 8] = [
    "fix",
    "fix-learned-w",
    "fix-learned-a",
    "adaptive-ttl",
    "lru-2",
    "mavsync",
    "empirical",
    "adaptive-fetch",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn learned_state_is_small_survives_storing_and_is_reproduced_by_replay(
        polls in polls(),
        bounds in bounds(),
    ) {
        for spec in POLICIES {
            let policy: Policy = spec.parse().expect("known");
            let name = spec.split(':').next().expect("a name");
            let size_max = if SIMPLE.contains(&name) { 64 } else { 1024 };
            let mut stored = policy.start().encode();
            let live = drive(&policy, &bounds, &polls, |o, learned, wish| {
                // A process that restarts after every poll learns the same.
                let mut restarted = Learned::decode(&policy, &stored);
                policy.learn(&mut restarted, o);
                stored = restarted.encode();
                assert_eq!(&restarted, learned, "{spec}");
                assert_eq!(policy.wish(&restarted, o, &bounds), wish, "{spec}");
                assert!(stored.len() <= size_max, "{spec} takes {} bytes", stored.len());
            });
            let replayed = drive(&policy, &bounds, &polls, |_, _, _| {});
            assert_eq!(live.encode(), replayed.encode(), "{spec}");
        }
    }

    #[test]
    fn damaged_or_foreign_state_is_a_fresh_start(
        polls in polls(),
        cut in 0_usize..1100,
        flip in any::<(u16, u8)>(),
    ) {
        for spec in POLICIES {
            let policy: Policy = spec.parse().expect("known");
            let mut bytes = drive(&policy, &Bounds::EVALUATION, &polls, |_, _, _| {}).encode();
            let position = usize::from(flip.0) % bytes.len();
            bytes[position] ^= flip.1;
            bytes.truncate(cut);
            for other in POLICIES {
                let other: Policy = other.parse().expect("known");
                let learned = Learned::decode(&other, &bytes);
                let at = Time::from_secs(1_600_000_000);
                let times = [at - Duration::from_secs(60), at];
                let o = crate::support::vectors::seen(at, &times);
                let wish = other.wish(&learned, &o, &Bounds::EVALUATION);
                assert!(wish.at > at, "{other}");
            }
        }
    }

    /// Any history, any zone, any period of training, even an empty one.
    #[test]
    fn trained_policies_keep_their_bounds_whatever_the_history(
        ages in prop::collection::vec(ages(), 0..8),
        span in -1000_i64..40_000_000,
        zone_secs in -50_400_i32..50_401,
        bounds in bounds(),
        polls in polls(),
    ) {
        let end = Time::from_secs(1_300_000_000);
        let shift = |age: &i64| end.shifted(-age.saturating_mul(1000));
        let mut history: Vec<Time> = ages.iter().flatten().map(shift).collect();
        history.sort_unstable();
        let start = end.shifted(-span * 1000);
        for spec in ["indhist:0.7", "indhist:9,week", "indhist-ttl:0.7,3,24h,2", "lihz:0.3"] {
            let policy: Policy = spec.parse().expect("known");
            let training = Training { history: &history, start, end, zone_secs };
            let learned = policy.train(&training);
            drive_from(learned, &policy, &bounds, &polls, |o, _, wish| {
                let interval = wish.at.since(o.at);
                assert!(interval >= bounds.alpha && interval <= bounds.beta, "{spec} {interval:?}");
            });
        }
    }
}
