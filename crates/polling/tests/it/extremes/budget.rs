//! Budgets at their limits: none, one and many feeds, feeds that leave, weights and prices of any
//! size, clock jumps, invented progress. No case makes a poll too many.

use std::time::Duration;

use feed::{Observation, Time};
use polling::budget::{Miss, Planner, Spender, Strategy as Spending, Tracked};
use polling::model::{HourlyRates, Model, ModelKind};
use proptest::prelude::*;

use crate::extremes::polls::step;
use crate::extremes::stored::{wounded, wounds};

const CYCLE: Duration = Duration::from_secs(60);
const START: Time = Time::from_secs(1_699_833_600);

/// Weights; the last kind can only be a typing error.
fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => Just(1.0),
        2 => -3.0..3.0_f64,
        1 => prop::sample::select(vec![0.0, 5e-324, 1e-300, 1e-290, 1e290, 1e300, f64::MAX]),
    ]
    .prop_map(f64::abs)
}

/// Bytes of a poll, from none to more than exist.
fn cost() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 1e2..1e6_f64, Just(1e20)]
}

fn feed(kind: ModelKind, weight: f64, cost: f64, n_entries: i64) -> Tracked {
    let mut tracked = Tracked { weight, cost, ..Tracked::new(kind.start()) };
    let window: Vec<Time> = (1..=n_entries).rev().map(|n| START.shifted(-n * 1_800_000)).collect();
    if n_entries > 0 {
        tracked.learn(&crate::support::vectors::seen(START, &window));
    }
    tracked
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn no_strategy_spends_more_than_the_budget_whatever_its_feeds_weigh_and_the_clock_does(
        feeds in prop::collection::vec(
            (weight(), cost(), 0..30_i64, 0..ModelKind::ALL.len()),
            0..12,
        ),
        polls in prop_oneof![Just(0_u32), 1..5_u32, 5..1000_u32],
        bytes in prop_oneof![3 => Just(None), 1 => (0..1_000_000_u64).prop_map(Some)],
        per in prop::sample::select(vec!["1s", "1m", "1h", "1d", "7d", "365d"]),
        jumps in prop::collection::vec((0..120_usize, step()), 0..3),
        leaving in prop::collection::vec((0..120_usize, 0..12_usize), 0..6),
        gap_secs in prop_oneof![Just(0_u64), Just(2), Just(3600)],
        wounds in wounds(),
    ) {
        let per = polling::parse_duration(per).expect("a duration");
        for strategy in Spending::ALL {
            let mut planner = Planner::new(strategy, CYCLE);
            planner.set_budget(Some(polling::budget::Budget { polls, per, bytes }));
            for (i, (weight, cost, n, kind)) in feeds.iter().enumerate() {
                planner.track(feed(ModelKind::ALL[*kind], *weight, *cost, *n));
                planner.set_pace(i, i as u32 % 2, Duration::from_secs(gap_secs));
            }
            let (mut now, mut n_spent) = (START, 0);
            for cycle in 0..120 {
                now = now + CYCLE;
                for (_, ms) in jumps.iter().filter(|(when, _)| *when == cycle) {
                    now = now.shifted(*ms).clamp(Time::from_millis(0), Time::MAX);
                }
                for (_, gone) in leaving.iter().filter(|(when, _)| *when == cycle) {
                    planner.drop_feed(*gone);
                }
                if cycle == 60 {
                    planner.resume(&wounded(&planner.progress(), 1, &wounds));
                    planner.resume(&planner.progress());
                    n_spent = 0;
                }
                let chosen = planner.spend(now);
                let mut once = chosen.clone();
                once.sort_unstable();
                once.dedup();
                prop_assert_eq!(once.len(), chosen.len(), "{}: one feed twice", strategy);
                n_spent += chosen.len();
                for number in chosen {
                    let left = leaving.iter().any(|(when, gone)| *when <= cycle && *gone == number);
                    prop_assert!(!left, "{}: a feed that left", strategy);
                    let entry = [now.shifted(-1000)];
                    planner.observe(number, &crate::support::vectors::seen(now, &entry));
                    let why = planner.why(number, now);
                    prop_assert!(why.is_none_or(|why| !why.words().is_empty()));
                }
            }
            // An hour by the planner's cycles; two more are kept, and each jump may begin a period.
            let minutes = per.as_secs_f64() / 60.0;
            let most = f64::from(polls) * (62.0 / minutes).max(1.0);
            let periods = 2.0 + jumps.len() as f64;
            let least = (360.0 / per.as_secs_f64()).max(1.0);
            let most = (most + f64::from(polls) * least) * periods;
            prop_assert!(n_spent as f64 <= most + 2.0, "{} {} {}", strategy, n_spent, most);
            prop_assert!(polls > 0 || n_spent == 0, "{}", strategy);
        }
    }

    /// Uses the public interface, at any price of a miss and any weight.
    #[test]
    fn a_poll_is_never_before_the_last_one_and_never_beyond_a_month(
        weight in weight(),
        miss_secs in prop_oneof![Just(1_u64), Just(3_153_600_000), 1..100_000_000_u64],
        polls in prop_oneof![Just(1_u32), Just(1_000_000_000)],
        n_entries in 1..40_i64,
        kind in 0..ModelKind::ALL.len(),
    ) {
        let spender = Spender {
            strategy: Spending::Tide,
            miss: Miss(Duration::from_secs(miss_secs)),
            ..Spending::Tide.into()
        };
        let mut planner = Planner::new(spender.strategy, CYCLE);
        planner.set_miss(spender.miss);
        let budget = polling::budget::Budget { polls, per: Duration::from_secs(3600), bytes: None };
        planner.set_budget(Some(budget));
        let number = planner.track(feed(ModelKind::ALL[kind], weight, 1.0, n_entries));
        for cycle in 1..40 {
            let now = START + CYCLE * cycle;
            let chosen = planner.spend(now);
            prop_assert!(chosen.len() <= 1);
            if let Some(why) = planner.why(number, now) {
                let at = why.at();
                prop_assert!(at.is_none_or(|at| at <= now + Duration::from_secs(32 * 86_400)));
            }
            chosen.iter().for_each(|n| planner.observe(*n, &Observation::first(now, &[START])));
        }
    }
}

/// Under a budget of scarce bytes, polls of an empty document cost nothing at all.
#[test]
fn a_poll_that_costs_nothing_is_planned_like_any_other() {
    let mut planner = Planner::new(Spending::Tide, CYCLE);
    planner.set_budget(Some("60/1h,1MB".parse().expect("a budget")));
    let feeds = [0.0, 40_000.0].map(|cost| planner.track(feed(ModelKind::Tide, 1.0, cost, 20)));
    let mut progress = planner.progress();
    // Version, τ and the price; then the share of bytes in the price.
    progress[17..25].copy_from_slice(&1.0_f64.to_le_bytes());
    planner.resume(&progress);
    let mut polls = [0; 2];
    for cycle in 1..=60 {
        let now = START + CYCLE * cycle;
        for number in planner.spend(now) {
            polls[number] += 1;
            planner.observe(number, &crate::support::vectors::seen(now, &[now.shifted(-1000)]));
        }
    }
    assert!(polls[feeds[0]] > polls[feeds[1]] && polls[feeds[1]] > 0, "{polls:?}");
}

/// One of two hundred feeds of a domain is left: its polls are priced as if it had been alone.
#[test]
fn feeds_that_left_take_no_part_in_the_pace_of_their_domain() {
    let polls = |n_leaving: usize| {
        let mut planner = Planner::new(Spending::Tide, CYCLE);
        planner.set_budget(Some("60/1h".parse().expect("a budget")));
        let known = |rate: f64| Tracked {
            last: Some(START),
            ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
        };
        let stays = [0.004, 0.001].map(|rate| planner.track(known(rate)));
        let leaves: Vec<usize> = (0..n_leaving).map(|_| planner.track(known(0.004))).collect();
        planner.set_pace(stays[0], 1, Duration::from_secs(60));
        for number in leaves {
            planner.set_pace(number, 1, Duration::from_secs(60));
            planner.drop_feed(number);
        }
        let mut polls = [0; 2];
        for cycle in 1..=24 * 60 {
            let now = START + CYCLE * cycle;
            for number in planner.spend(now) {
                polls[number] += 1;
                let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
                planner.renew(number, seen, now);
            }
        }
        polls
    };
    assert_eq!(polls(200), polls(0));
}
