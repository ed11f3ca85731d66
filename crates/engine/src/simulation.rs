//! Controllers, terminals and a road that delays, drops and repeats, in simulated time. The plan,
//! the registry of terminals and the rules of acceptance are the real ones. No domain may ever get
//! two requests at once, and no terminal may lose a result; each mutant breaks one rule and must be
//! caught.

mod answers;
mod granting;
mod nodes;
mod requests;
mod world;

use terminal::BrokenRule;
use world::{Rules, SimulatedTally, SimulatedWorld};

/// Minutes of one simulated life.
const LIFE_MINUTES: u64 = 15;

fn lives(rules: Rules, n: u64) -> SimulatedTally {
    let mut all = SimulatedTally::default();
    for seed in 0..n {
        let tally = SimulatedWorld::new(seed, rules).live(LIFE_MINUTES * 60_000);
        all.n_requests += tally.n_requests;
        all.n_takeovers += tally.n_takeovers;
        all.n_overlaps += tally.n_overlaps;
        all.n_recorded += tally.n_recorded;
        all.n_hops += tally.n_hops;
        all.n_errands += tally.n_errands;
        all.n_results += tally.n_results;
        all.n_accounted += tally.n_accounted;
    }
    all
}

/// The number of lives: few in `cargo test`, many in `make soak`.
fn n_lives() -> u64 {
    let asked = std::env::var("TIDINGS_SIMULATED_LIVES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(12)
}

#[test]
fn no_domain_is_ever_asked_twice_at_once() {
    let tally = lives(Rules::default(), n_lives());
    println!("{tally:?}");
    assert_eq!(tally.n_overlaps, 0, "{tally:?}");
    assert!(tally.n_takeovers >= n_lives() * 3, "{tally:?}");
    assert!(tally.n_requests > n_lives() * 300, "{tally:?}");
    assert!(tally.n_recorded > n_lives() * 100, "{tally:?}");
    assert!(tally.n_hops > n_lives() * 20 && tally.n_errands > n_lives() * 20, "{tally:?}");
    assert_eq!(tally.n_results, tally.n_accounted, "a result is lost: {tally:?}");
}

#[test]
fn every_broken_rule_is_caught() {
    let mutants = [
        Rules { broken: Some(BrokenRule::ForgetsGrants), ..Rules::default() },
        Rules { broken: Some(BrokenRule::IgnoresSendBy), ..Rules::default() },
        Rules { any_result_frees: true, ..Rules::default() },
        Rules { without_rows: true, ..Rules::default() },
        Rules { shared_queue: true, ..Rules::default() },
        Rules { follows_redirects: true, ..Rules::default() },
        Rules { stays_at_target: true, ..Rules::default() },
        Rules { forgets_results: true, ..Rules::default() },
    ];
    for rules in mutants {
        let tally = lives(rules, n_lives().max(12));
        println!("{rules:?}: {tally:?}");
        let is_caught = tally.n_overlaps > 0 || tally.n_results > tally.n_accounted;
        assert!(is_caught, "{rules:?}: {tally:?}");
    }
}
