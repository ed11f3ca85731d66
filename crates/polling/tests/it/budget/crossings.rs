//! The heap form of two-steps chooses the same polls as the published scan over all feeds.

use std::time::Duration;

use feed::{Observation, Time};
use polling::budget::two_steps::{Threshold, two_steps};
use polling::budget::{FeedUrgency, Planner, Strategy, Tracked};
use polling::model::smoothing::Smoothing;
use polling::model::{HourlyRates, Model};

use crate::support::chance::Chance;

/// A feed with a model of some kind, polled lately or never.
pub fn feed(chance: &mut Chance, now: Time) -> Tracked {
    let rate = 0.02 * chance.unit() * chance.unit();
    let mut model = match chance.below(4) {
        0 => Model::homogeneous(),
        1 => Model::single_variable(Smoothing::adjusting()),
        2 => Model::daily(Smoothing::Fixed(0.1)),
        _ => {
            let hours = (0..24).map(|_| rate * 2.0 * chance.unit() * chance.below(2) as f64);
            Model::Frozen(HourlyRates { hours: hours.collect(), zone_secs: 3600 })
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

pub fn seen(at: Time, window: &[Time], n_new: usize) -> Observation<'_> {
    Observation::seen(at, window, &window[window.len() - n_new..])
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
    let (mut held, mut dropped) = (vec![start; n_feeds], Vec::new());
    let nothing = FeedUrgency { divergence: 0.0, saturated: false, utility: 0.0 };
    let mut n_polls = 0;
    for cycle in 1..=n_cycles {
        let now = start + Duration::from_secs(60 * cycle);
        // The budget changes now and then, so that the bar makes both large and small changes.
        let budget = if cycle % 97 < 40 { n_feeds / 30 } else { n_feeds / 12 };
        let urgency = |(feed, held): (&Tracked, &Time)| match *held > now {
            true => nothing,
            false => feed.urgency(now),
        };
        let urgencies: Vec<FeedUrgency> = feeds.iter().zip(&held).map(urgency).collect();
        let scanned = two_steps(&urgencies, budget, &mut threshold);
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
        if cycle % 9 == 0 {
            let number = chance.below(n_feeds as u64) as usize;
            if dropped.contains(&number) {
                continue;
            }
            held[number] = now + Duration::from_secs(60 * chance.below(40));
            planner.hold(number, held[number]);
        }
        if cycle % 71 == 0 {
            let number = chance.below(n_feeds as u64) as usize;
            (feeds[number].weight, feeds[number].selectivity) = (0.0, 0.0);
            dropped.push(number);
            planner.drop_feed(number);
        }
        if cycle % 50 == 0 {
            let number = chance.below(n_feeds as u64) as usize;
            let (weight, selectivity) = (2.0 * chance.unit(), chance.below(2) as f64);
            if dropped.contains(&number) {
                continue;
            }
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
fn both_forms_choose_the_same_polls_of_thousands_of_feeds() {
    let n_polls = compare(40, 4000, 150, 500.0);
    assert!(n_polls > 20_000, "only {n_polls} polls were compared");
}
