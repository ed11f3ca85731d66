//! The factors of an experiment: each changes the polls of `tide`, except at 1. This is a program
//! of its own, because factors apply to the whole process.

use std::time::Duration;

use feed::{Observation, Time};
use polling::policy::tide;
use polling::tuning::{Constant, reset, scale};
use polling::{Bounds, Policy};

/// The polls of a year at two prices: minutes matter at the lower one, the window of five at the
/// higher one.
fn polls() -> [Vec<i64>; 2] {
    [600, 1800].map(|secs| polls_at(Duration::from_secs(secs)))
}

/// An entry at ten every day but at weekends, three after noon on some, none in the third month.
fn polls_at(price: Duration) -> Vec<i64> {
    let policy = Policy::Tide { price, miss: tide::MISS };
    let mut learned = policy.start();
    let entries = (0..360).filter(|day| day % 7 < 5 && !(60..90).contains(day)).flat_map(|day| {
        let count = if day % 3 == 0 { 4 } else { 1 };
        (0..count).map(move |n| day * 86_400 + if n == 0 { 36_000 } else { 43_200 + n * 300 })
    });
    let entries: Vec<Time> = entries.map(Time::from_secs).collect();
    let mut at = Time::from_secs(5 * 86_400);
    let mut found = 0;
    let mut polls = Vec::new();
    while at < Time::from_secs(360 * 86_400) {
        let now = entries.partition_point(|time| *time <= at);
        let window = &entries[now.saturating_sub(5)..now];
        let new = &entries[found.max(now.saturating_sub(5))..now];
        let seen = Observation::seen(at, window, new);
        policy.learn(&mut learned, &seen);
        at = policy.wish(&learned, &seen, &Bounds::EVALUATION).at;
        found = now;
        polls.push(at.secs());
    }
    polls
}

#[test]
fn every_constant_can_be_scaled_and_be_itself_again() {
    let plain = polls();
    for constant in Constant::ALL {
        let moved = [0.5, 2.0].map(|factor| {
            scale(constant, factor);
            polls() != plain
        });
        reset();
        assert_eq!(moved, [true; 2], "{constant:?} halved and doubled");
    }
    assert!(polls() == plain);
}
