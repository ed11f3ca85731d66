//! Learned state: small, stored and read back without loss, reproduced by replay, and never trusted.

use std::time::Duration;

use feed::Time;
use polling::{Bounds, Learned, Policy};
use proptest::prelude::*;

use crate::properties::{POLICIES, bounds, drive, polls};

/// Those that may take 64 bytes at most.
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
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..Default::default() })]

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
                let o = crate::vectors::seen(at, &times);
                let wish = other.wish(&learned, &o, &Bounds::EVALUATION);
                assert!(wish.at > at, "{other}");
            }
        }
    }
}
