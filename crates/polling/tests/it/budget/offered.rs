//! The feeds that a strategy offers, and those that it must not offer.

use std::time::Duration;

use feed::Time;
use polling::budget::{Planner, Strategy, Tracked};
use polling::model::Model;

use crate::budget::crossings::{feed, seen};
use crate::support::chance::Chance;

#[test]
fn a_feed_that_is_on_its_way_or_held_is_not_offered() {
    let start = Time::from_secs(1_700_000_000);
    let at = |s| start + Duration::from_secs(s);
    for strategy in Strategy::ALL {
        let mut planner = Planner::new(strategy, Duration::from_secs(60));
        let mut chance = Chance::new(5);
        for _ in 0..10 {
            let fresh = Tracked { last: None, selectivity: 1.0, ..feed(&mut chance, start) };
            planner.track(fresh);
        }
        let first = planner.plan(start, 20);
        assert_eq!(first.len(), 10, "{strategy}: feeds never polled are due at once");
        assert_eq!(planner.plan(at(60), 20), Vec::<usize>::new(), "{strategy}");
        planner.hold(3, at(600));
        assert_eq!(planner.plan(at(120), 20), Vec::<usize>::new(), "{strategy}");
        assert_eq!(planner.plan(at(660), 20), [3], "{strategy}");
    }
}

/// With nothing else to poll the bar falls in every cycle, and the feed is keyed again and again.
#[test]
fn a_held_feed_stays_held_while_the_bar_falls() {
    let start = Time::from_secs(1_700_000_000);
    let mut planner = Planner::new(Strategy::TwoSteps, Duration::from_secs(60));
    let busy = Model::Homogeneous(polling::model::homogeneous::Homogeneous { rate: 0.001 });
    planner.track(Tracked { last: Some(start), window: 1000, ..Tracked::new(busy) });
    planner.hold(0, start + Duration::from_secs(100_000));
    for cycle in 1..1000 {
        let now = start + Duration::from_secs(60 * cycle);
        assert!(planner.plan(now, 1).is_empty(), "cycle {cycle}");
    }
    assert_eq!(planner.plan(start + Duration::from_secs(100_000), 1), [0]);
}

#[test]
fn a_feed_that_feeds_no_query_costs_nothing() {
    let start = Time::from_secs(1_700_000_000);
    for strategy in Strategy::ALL {
        let mut planner = Planner::new(strategy, Duration::from_secs(3600));
        let mut chance = Chance::new(9);
        for i in 0..20 {
            let selectivity = f64::from(i % 2);
            planner.track(Tracked { selectivity, ..feed(&mut chance, start) });
        }
        let mut polled = [0; 20];
        for cycle in 0..200 {
            let now = start + Duration::from_secs(3600 * cycle);
            for number in planner.plan(now, 4) {
                polled[number] += 1;
                let window = [now - Duration::from_secs(50), now - Duration::from_secs(5)];
                planner.observe(number, &seen(now, &window, 1));
            }
        }
        assert!(polled.iter().step_by(2).all(|n| *n == 0), "{strategy} {polled:?}");
        assert!(polled.iter().sum::<i32>() > 100, "{strategy} {polled:?}");
    }
}
