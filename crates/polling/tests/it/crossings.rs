//! The heap form of two-steps chooses the same polls as the published scan over all feeds.

use std::time::Duration;

use feed::{Observation, Outcome, Time};
use polling::budget::two_steps::{Threshold, two_steps};
use polling::budget::{Planner, Standing, Strategy, Tracked};
use polling::model::smoothing::Smoothing;
use polling::model::{Model, Rates};

use crate::chance::Chance;

/// A feed with a model of some kind, polled lately or never.
fn feed(chance: &mut Chance, now: Time) -> Tracked {
    let rate = 0.02 * chance.unit() * chance.unit();
    let mut model = match chance.below(4) {
        0 => Model::homogeneous(),
        1 => Model::single_variable(Smoothing::adjusting()),
        2 => Model::daily(Smoothing::Fixed(0.1)),
        _ => {
            let hours = (0..24).map(|_| rate * 2.0 * chance.unit() * chance.below(2) as f64);
            Model::Frozen(Rates { hours: hours.collect(), zone_secs: 3600 })
        }
    };
    let window: Vec<Time> = (0..12).map(|i| now - Duration::from_secs((12 - i) * 997)).collect();
    model.learn(&seen(now, &window, window.len()));
    if let Model::SingleVariable(m) = &mut model {
        m.flat.rate = rate;
    }
    if let Model::Homogeneous(m) = &mut model {
        m.rate = rate;
    }
    Tracked {
        last: (chance.below(10) > 0).then_some(now),
        window: 5 + chance.below(30) as u32,
        weight: 0.5 + chance.unit(),
        selectivity: chance.below(8) as f64 / 7.0,
        ..Tracked::new(model)
    }
}

fn seen(at: Time, window: &[Time], n_new: usize) -> Observation<'_> {
    Observation {
        at,
        outcome: Outcome::Seen,
        window,
        new: &window[window.len() - n_new..],
        overlap: window.len() - n_new,
        suspected_miss: false,
        partial: false,
    }
}

fn compare(seed: u64, n_feeds: usize, n_cycles: u64, tau: f64) -> usize {
    let mut chance = Chance::new(seed);
    let start = Time::from_secs(1_700_000_000);
    let mut feeds: Vec<Tracked> = (0..n_feeds).map(|_| feed(&mut chance, start)).collect();
    let mut planner = Planner::new(Strategy::TwoSteps, Duration::from_secs(60));
    feeds.iter().for_each(|feed| {
        planner.track(feed.clone());
    });
    planner.set_threshold(tau);
    let mut threshold = Threshold::new(tau);
    let mut n_polls = 0;
    for cycle in 1..=n_cycles {
        let now = start + Duration::from_secs(60 * cycle);
        // The budget changes now and then, so that the bar jumps as well as trembles.
        let budget = if cycle % 97 < 40 { n_feeds / 30 } else { n_feeds / 12 };
        let standings: Vec<Standing> = feeds.iter().map(|feed| feed.standing(now)).collect();
        let scanned = two_steps(&standings, budget, &mut threshold);
        let planned = planner.plan(now, budget);
        assert_eq!(planned, scanned, "seed {seed} cycle {cycle}");
        assert_eq!(planner.threshold(), threshold.tau());
        n_polls += scanned.len();
        for number in scanned {
            let size = feeds[number].window.max(1) as usize;
            let n_new = (chance.below(4) as usize).min(size);
            let window: Vec<Time> =
                (0..size).map(|i| now - Duration::from_secs((size - i) as u64 * 571)).collect();
            let observation = seen(now, &window, n_new);
            feeds[number].learn(&observation);
            planner.observe(number, &observation);
        }
        if cycle % 50 == 0 {
            let number = chance.below(n_feeds as u64) as usize;
            let (weight, selectivity) = (2.0 * chance.unit(), chance.below(2) as f64);
            (feeds[number].weight, feeds[number].selectivity) = (weight, selectivity);
            planner.revalue(number, weight, selectivity);
        }
    }
    n_polls
}

#[test]
fn both_forms_choose_the_same_polls() {
    let n_polls: usize = [0.01, 10.0, 3600.0, 1e6]
        .iter()
        .enumerate()
        .map(|(seed, tau)| compare(seed as u64, 120, 300, *tau))
        .sum();
    assert!(n_polls > 3000, "only {n_polls} polls were compared");
}

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
