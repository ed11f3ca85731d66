//! A planner as it lives: under a budget, with feeds that come and go, strategies that change, and
//! restarts.

use std::time::Duration;

use feed::{Observation, Outcome, Time};
use polling::budget::{Budget, Ground, Planner, Strategy, Tracked};
use polling::model::{Model, Rates};

use crate::chance::Chance;

const CYCLE: Duration = Duration::from_secs(600);
const START: Time = Time::from_secs(1_700_000_000);

fn at(cycle: u32) -> Time {
    START + CYCLE * cycle
}

/// A feed with a day of its own that was polled within the last hours.
fn feed(chance: &mut Chance) -> Tracked {
    let rate = 0.01 * chance.unit();
    let hours = (0..24).map(|h| rate * if (8..20).contains(&h) { 1.5 } else { 0.3 });
    let model = Model::Frozen(Rates { hours: hours.collect(), zone_secs: 0 });
    let last = START - Duration::from_secs(chance.below(20_000));
    Tracked { last: Some(last), cost: 10_000.0, ..Tracked::new(model) }
}

fn planner(strategy: Strategy, n: usize, budget: &str) -> Planner {
    let mut chance = Chance::new(n as u64);
    let mut planner = Planner::new(strategy, CYCLE);
    planner.set_threshold(100.0);
    planner.set_budget(Some(budget.parse().expect("a budget")));
    (0..n).for_each(|_| {
        planner.track(feed(&mut chance));
    });
    planner
}

fn answer(planner: &mut Planner, feed: usize, now: Time) {
    let window = [now - Duration::from_secs(100), now - Duration::from_secs(50)];
    planner.observe(feed, &observation(now, &window));
}

fn observation(now: Time, window: &[Time]) -> Observation<'_> {
    Observation {
        at: now,
        outcome: Outcome::Seen,
        window,
        new: &window[1..],
        overlap: 1,
        suspected_miss: false,
        partial: false,
    }
}

/// Polls of each of the cycles, every one answered at once.
fn run(planner: &mut Planner, cycles: std::ops::Range<u32>) -> Vec<usize> {
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
        let polls = run(&mut planner, 0..6 * 48);
        let hours: Vec<usize> = polls.chunks(6).map(|hour| hour.iter().sum()).collect();
        assert!(polls.iter().all(|n| *n <= 3), "{strategy}: {polls:?}");
        // Credit of two cycles may be carried into an hour.
        assert!(hours.iter().all(|n| *n <= 9), "{strategy}: {hours:?}");
        let all: usize = hours.iter().sum();
        assert!(all <= 7 * 48, "{strategy}: {all}");
        // Those that must spend do; thresholds and saturation may leave something.
        assert!(all >= 7 * 48 * 3 / 4, "{strategy}: {all} {hours:?}");
    }
}

#[test]
fn a_long_sleep_is_followed_by_no_burst() {
    for strategy in Strategy::ALL {
        let mut planner = planner(strategy, 400, "60/1h");
        run(&mut planner, 0..20);
        let polls = run(&mut planner, 5000..5004);
        assert!(polls[0] <= 20 && polls[1..].iter().all(|n| *n <= 20), "{strategy}: {polls:?}");
    }
}

#[test]
fn a_budget_is_changed_at_run_time_and_holds_at_once() {
    for strategy in Strategy::ALL {
        let mut planner = planner(strategy, 200, "60/1h");
        run(&mut planner, 0..30);
        planner.set_budget(Some("600/1h".parse().unwrap()));
        // A threshold takes its steps of 5 %.
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
        // Documents turn out five times as large. The plan learns it feed by feed; while it does, a
        // debt of more than an hour is forgiven, afterwards nothing is.
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
        // It takes its share like the others, not every cycle.
        let most = polls[..young].iter().max().unwrap();
        assert!(polls[young] <= most + 7, "{strategy}: {polls:?}");
    }
}

#[test]
fn a_restart_goes_on_where_it_was() {
    for strategy in Strategy::ALL {
        let mut first = planner(strategy, 50, "7/1h");
        run(&mut first, 0..33);
        let mut second = Planner::new(strategy, CYCLE);
        second.set_budget(first.budget());
        first.feeds().iter().for_each(|feed| {
            second.track(feed.clone());
        });
        second.resume(&first.progress());
        assert_eq!(second.threshold(), first.threshold());
        assert_eq!(second.progress(), first.progress());
        assert_eq!(second.spend(at(33)).len(), first.spend(at(33)).len(), "{strategy}");
        let kept = second.progress();
        second.resume(&kept[..kept.len() - 1]);
        second.resume(b"not ours");
        assert_eq!(second.progress(), kept);
    }
}

#[test]
fn every_strategy_says_why_in_figures_and_in_one_sentence() {
    for strategy in Strategy::ALL {
        let mut planner = planner(strategy, 30, "60/1h");
        run(&mut planner, 0..10);
        let fresh = planner.track(Tracked::new(Model::homogeneous()));
        planner.revalue(0, 1.0, 0.0);
        planner.hold(1, at(500));
        let now = at(10);
        assert_eq!(planner.why(fresh, now).unwrap().ground, Ground::NeverPolled);
        assert_eq!(planner.why(0, now).unwrap().ground, Ground::Worthless);
        assert_eq!(planner.why(1, now).unwrap().held_until, Some(at(500)));
        assert_eq!(planner.why(99, now), None);
        for feed in 0..31 {
            let why = planner.why(feed, now).unwrap();
            let (code, words) = (why.code(), why.words());
            assert!(code.starts_with(strategy.word()) && code.len() <= 60, "{code}");
            assert!(words.len() > 20 && words.len() < 300, "{words}");
            assert!(!words.contains("NaN") && !words.contains("inf"), "{words}");
        }
        let away = planner.spend(now);
        assert!(away.iter().all(|f| planner.why(*f, now).unwrap().ground == Ground::OnItsWay));
    }
}

#[test]
fn a_look_comes_when_why_said_it_would() {
    for strategy in [Strategy::TwoSteps, Strategy::OnlyTau, Strategy::MinDelay, Strategy::CrawlAge]
    {
        let mut planner = planner(strategy, 1, "1/10m");
        planner.spend(START);
        let mut now = START;
        let said = loop {
            let why = planner.why(0, now).unwrap();
            match why.ground {
                Ground::Price { at: Some(at), .. } | Ground::Allotted { at, .. } => break at,
                _ => answer(&mut planner, 0, now),
            }
            now = now + CYCLE;
        };
        let price = planner.threshold();
        let polled = (0..100).map(|c| now + CYCLE * c).find(|t| {
            planner.set_threshold(price);
            !planner.spend(*t).is_empty()
        });
        let polled = polled.unwrap();
        assert!(polled >= said && polled <= said + CYCLE, "{strategy}: {polled}, said {said}");
    }
}

#[test]
fn polls_beside_the_plan_are_paid_from_the_budget() {
    let budget: Budget = "60/1h".parse().unwrap();
    let mut planner = planner(Strategy::Uniform, 100, "60/1h");
    assert_eq!(planner.budget(), Some(budget));
    run(&mut planner, 0..3);
    planner.note_polls(15, 0);
    assert_eq!(run(&mut planner, 3..6), [0, 5, 10]);
}
