//! advaRSS (source 004) against its vectors: runs of polls, and countdowns.

use polling::policy::advarss::AdvaRssInterval;

use crate::support::vectors::{float, fraction, integer, list, named};

#[test]
fn advarss_runs_hold_to_the_last_decimal() {
    for vectors in named("advarss") {
        for run in list(&vectors["runs"]) {
            let mut pace = AdvaRssInterval::start();
            for state in list(&run["states"]) {
                pace.step(state["changed"].as_bool().unwrap(), integer(&run["max_M"]) as u32);
                assert_eq!(i64::from(pace.toe()), integer(&state["ToE"]), "{run}");
                let (m, t) = (fraction(&state["M"]).to_f64(), fraction(&state["T"]).to_f64());
                assert!((pace.m() / m - 1.0).abs() < 1e-15, "{run}");
                assert!((pace.t() / t - 1.0).abs() < 1e-15, "{run}");
                assert!((m / float(&state["M_float"]) - 1.0).abs() < 1e-15, "{run}");
                assert!((t / float(&state["T_float"]) - 1.0).abs() < 1e-15, "{run}");
            }
        }
    }
}

/// Decrement, then test: a countdown of n polls at the n-th run from now, one of 0 at the first.
#[test]
fn advarss_countdowns_hold() {
    for vectors in named("advarss") {
        for row in list(&vectors["ticks"]).iter().filter(|r| r["sequential"] == true) {
            let changes: Vec<i64> = list(&row["change_ticks"]).iter().map(integer).collect();
            let (mut pace, mut toe) = (AdvaRssInterval::start(), integer(&row["ToE0"]));
            let mut polls = list(&row["polls"]).iter();
            let mut last = -1;
            for tick in 0..integer(&row["ticks"]) {
                toe = (toe - 1).max(0);
                if toe > 0 {
                    continue;
                }
                let changed = changes.iter().any(|c| *c > last && *c <= tick);
                pace.step(changed, 25);
                toe = i64::from(pace.toe());
                last = tick;
                let poll = polls.next().expect("as many polls as published");
                let expected = (integer(&poll["tick"]), poll["changed"] == true);
                assert_eq!((tick, changed), expected, "{row}");
                assert_eq!(toe, integer(&poll["ToE"]));
            }
            assert_eq!(polls.next(), None);
        }
    }
}
