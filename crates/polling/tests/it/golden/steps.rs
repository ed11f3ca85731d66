//! One step of each simple policy, to the second and before rounding to the nanosecond.

use feed::Time;
use polling::policy::{adaptive_ttl, fix_learned, lru_2};
use polling::{Fraction, Policy};
use serde_json::Value;

use crate::support::vectors::{bounds, integer, list, named, seconds, seen, times};

fn policy_of(row: &Value) -> Option<Policy> {
    let text = match row["algorithm"].as_str()? {
        "Fix" => format!("fix:{}s", integer(&row["params"]["seconds"])),
        "FixLearnedW" => "fix-learned-w".to_owned(),
        "FixLearnedA" => "fix-learned-a".to_owned(),
        "AdaptiveTTL" => format!("adaptive-ttl:{}", row["params"]["M"].as_str()?),
        "LRU2" => "lru-2".to_owned(),
        "MAVSync" => "mavsync".to_owned(),
        // The crate `feed` repairs dates and tests it.
        "correct_timestamps" => return None,
        other => panic!("vectors name the unknown policy {other}"),
    };
    Some(text.parse().expect("a policy"))
}

/// The interval of the bare equation, before bounds; MAVSync's steps give none.
fn raw_interval(policy: &Policy, at: Time, window: &[Time]) -> Option<Fraction> {
    match policy {
        Policy::Fix { every } => Some(Fraction::millis(*every)),
        Policy::FixLearnedW => fix_learned::interval_w(window),
        Policy::FixLearnedA => fix_learned::interval_a(at, window),
        Policy::AdaptiveTtl { factor } => adaptive_ttl::interval(*factor, at, window),
        Policy::Lru2 => match lru_2::two_newest(window) {
            (Some(newest), Some(previous)) => {
                Some(Fraction::whole(newest.millis_since(previous).into()))
            }
            _ => None,
        },
        _ => None,
    }
}

#[test]
fn every_step_of_the_simple_policies_holds() {
    for rows in named("reichert_steps") {
        let mut n_steps = 0;
        for row in list(&rows) {
            let Some(policy) = policy_of(row) else { continue };
            let (at, window) = (Time::from_secs(integer(&row["tau"])), times(&row["window"]));
            let mut learned = policy.start();
            let seen = seen(at, &window);
            policy.learn(&mut learned, &seen);
            let wish = policy.wish(&learned, &seen, &bounds(&row["bounds"]));
            let expected = seconds(&row["next_exact"]);
            assert_eq!(wish.exact_nanos(), expected.floor_times(1_000_000), "{row}");
            assert_eq!(wish.at.secs(), integer(&row["next_seconds"]), "{row}");
            let raw = row["raw_interval"].as_array().map(|_| seconds(&row["raw_interval"]));
            assert_eq!(raw_interval(&policy, at, &window), raw, "{row}");
            assert!(wish.why.code().len() <= 60 && wish.why.words().ends_with(['.', ')']));
            n_steps += 1;
        }
        assert!(n_steps >= 300, "only {n_steps} steps were found");
    }
}
