//! A running planner: under a budget, with feeds that come and go and strategies that change.

use std::time::Duration;

use feed::{Observation, Time};
use polling::budget::{Planner, Strategy, Tracked};
use polling::model::{HourlyRates, Model};

use crate::support::chance::Chance;

pub const CYCLE: Duration = Duration::from_secs(600);
pub const START: Time = Time::from_secs(1_700_000_000);

pub fn at(cycle: u32) -> Time {
    START + CYCLE * cycle
}

/// A feed with a day of its own that was polled within the last hours.
pub fn feed(chance: &mut Chance) -> Tracked {
    let rate = 0.01 * chance.unit();
    let hours = (0..24).map(|h| rate * if (8..20).contains(&h) { 1.5 } else { 0.3 });
    let model = Model::Frozen(HourlyRates { hours: hours.collect(), zone_secs: 0 });
    let last = START - Duration::from_secs(chance.below(20_000));
    Tracked { last: Some(last), cost: 10_000.0, ..Tracked::new(model) }
}

pub fn planner(strategy: Strategy, n: usize, budget: &str) -> Planner {
    let mut chance = Chance::new(n as u64);
    let mut planner = Planner::new(strategy, CYCLE);
    planner.set_threshold(100.0);
    planner.set_budget(Some(budget.parse().expect("a budget")));
    (0..n).for_each(|_| {
        planner.track(feed(&mut chance));
    });
    planner
}

pub fn answer(planner: &mut Planner, feed: usize, now: Time) {
    let window = [now - Duration::from_secs(100), now - Duration::from_secs(50)];
    planner.observe(feed, &observation(now, &window));
}

fn observation(now: Time, window: &[Time]) -> Observation<'_> {
    Observation::seen(now, window, &window[1..])
}

/// Runs the cycles and answers each poll at once. Returns the polls of each cycle.
pub fn run(planner: &mut Planner, cycles: std::ops::Range<u32>) -> Vec<usize> {
    let each = cycles.map(|cycle| {
        let polls = planner.spend(at(cycle));
        polls.iter().for_each(|feed| answer(planner, *feed, at(cycle)));
        polls.len()
    });
    each.collect()
}

#[test]
fn seven_an_hour_are_seven_in_every_hour_for_every_strategy() {
    for strategy in Strategy::ALL {
        let mut planner = planner(strategy, 100, "7/1h");
        let first_of_an_hour = 5;
        run(&mut planner, 0..first_of_an_hour);
        let polls = run(&mut planner, first_of_an_hour..first_of_an_hour + 6 * 48);
        let hours: Vec<usize> = polls.chunks(6).map(|hour| hour.iter().sum()).collect();
        // Credit of two cycles may be carried into an hour; tide carries none, and spends up to
        // three shares at once.
        let (at_once, in_an_hour) = if strategy == Strategy::Tide { (4, 7) } else { (3, 9) };
        assert!(polls.iter().all(|n| *n <= at_once), "{strategy}: {polls:?}");
        assert!(hours.iter().all(|n| *n <= in_an_hour), "{strategy}: {hours:?}");
        let all: usize = hours.iter().sum();
        assert!(all <= 7 * 48, "{strategy}: {all}");
        // Strategies that must spend do; thresholds and saturation may leave something.
        assert!(all >= 7 * 48 * 3 / 4, "{strategy}: {all} {hours:?}");
    }
}

#[test]
fn a_long_sleep_is_followed_by_no_burst() {
    for strategy in Strategy::ALL {
        let mut planner = planner(strategy, 400, "60/1h");
        run(&mut planner, 0..20);
        let polls = run(&mut planner, 5000..5004);
        // Two cycles' worth; tide may spend three, and no more than the rest of the hour.
        let most = if strategy == Strategy::Tide { 30 } else { 20 };
        assert!(polls.iter().all(|n| *n <= most), "{strategy}: {polls:?}");
        assert!(polls.iter().sum::<usize>() <= 80, "{strategy}: {polls:?}");
    }
}

#[test]
fn a_budget_is_changed_at_run_time_and_holds_at_once() {
    for strategy in Strategy::ALL {
        let mut planner = planner(strategy, 200, "60/1h");
        run(&mut planner, 0..30);
        planner.set_budget(Some("600/1h".parse().unwrap()));
        // A threshold moves in steps of 5 %.
        let rich: usize = run(&mut planner, 30..100).iter().sum();
        assert!(rich > 2 * 10 * 70, "{strategy}: {rich}");
        planner.set_budget(Some("6/1h".parse().unwrap()));
        let poor: usize = run(&mut planner, 100..112).iter().sum();
        assert!(poor <= 6 * 2 + 2, "{strategy}: {poor}");
        planner.set_budget(None);
        assert_eq!(run(&mut planner, 112..120), [0; 8]);
    }
}

#[test]
fn bytes_are_kept_within_their_budget() {
    for strategy in Strategy::ALL {
        // Ten documents of 10 kB an hour, though sixty polls are allowed.
        let mut planner = planner(strategy, 100, "60/1h,100kB");
        let hours = 48;
        let n: usize = run(&mut planner, 0..6 * hours).iter().sum();
        let most = 10 * hours as usize;
        assert!(n <= most + 3 && n >= most * 3 / 4, "{strategy}: {n} of {most}");
        // Documents turn out five times as large. The plan learns it feed by feed. Meanwhile a debt
        // of more than an hour is forgiven, afterwards nothing is.
        let mut spent = [0; 2];
        for cycle in 6 * hours..18 * hours {
            for feed in planner.spend(at(cycle)) {
                spent[usize::from(cycle >= 12 * hours)] += 50_000;
                planner.note_bytes(feed, 50_000);
                answer(&mut planner, feed, at(cycle));
            }
        }
        let most = 100_000 * hours;
        assert!(spent[0] <= most * 5 / 4 && spent[1] <= most + 100_000, "{strategy}: {spent:?}");
        assert!(spent[1] >= most / 2, "{strategy}: {spent:?}");
    }
}

#[test]
fn a_strategy_is_changed_without_losing_what_was_learned() {
    for from in Strategy::ALL {
        for to in Strategy::ALL {
            let mut planner = planner(from, 40, "60/1h");
            run(&mut planner, 0..10);
            let away = planner.spend(at(10));
            planner.hold(away.first().copied().unwrap_or(39), at(40));
            let known: Vec<Tracked> = planner.feeds().to_vec();
            let tau = planner.threshold();
            planner.set_strategy(to);
            assert_eq!(planner.feeds(), known, "{from} to {to}");
            assert_eq!((planner.strategy(), planner.threshold()), (to, tau));
            let held = away.first().copied().unwrap_or(39);
            for cycle in 11..40 {
                for feed in planner.spend(at(cycle)) {
                    assert!(!away.contains(&feed) && feed != held, "{from} to {to}: {feed}");
                    answer(&mut planner, feed, at(cycle));
                }
            }
        }
    }
}

#[test]
fn feeds_come_and_go_while_it_runs() {
    for strategy in Strategy::ALL {
        let mut planner = planner(strategy, 20, "60/1h");
        run(&mut planner, 0..10);
        planner.drop_feed(3);
        let mut chance = Chance::new(7);
        let young = planner.track(Tracked { last: None, ..feed(&mut chance) });
        assert_eq!(young, 20, "a number is never given twice");
        let mut polls = vec![0; 21];
        for cycle in 10..200 {
            for feed in planner.spend(at(cycle)) {
                polls[feed] += 1;
                answer(&mut planner, feed, at(cycle));
            }
        }
        assert_eq!(polls[3], 0, "{strategy}");
        assert!(polls[young] > 0, "{strategy}");
        // The feed takes its share like the others, not every cycle.
        let most = polls[..young].iter().max().unwrap();
        assert!(polls[young] <= most + 7, "{strategy}: {polls:?}");
    }
}
