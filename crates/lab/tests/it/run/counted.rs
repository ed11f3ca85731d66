//! Found, missed and open entries together are those published in the test phase: for any trace,
//! policy and strategy, with and without a warm-up.

use std::time::Duration;

use feed::Time;
use lab::budget::{BudgetOptions, BudgetSetting, PollAllowance, spend_all};
use lab::{Chance, Phases, RunProgress, Setting, TraceRow, World, WorldBuilder};
use polling::Policy;
use polling::budget::{Estimator, Spender, Strategy};

const HOUR: Duration = Duration::from_secs(3600);
const START: Time = Time::from_secs(1_500_000_000);
const SEEDS: u64 = 12;

/// Feeds that begin early and late, at any rate, with few or many entries shown, some of them
/// undated.
fn world(chance: &mut Chance) -> World {
    let mut builder = WorldBuilder::default();
    for number in 0..1 + chance.below(12) {
        let feed = builder.feed(&format!("feed {number}"));
        let gap = chance.power_law(600.0, 200_000.0, 1.1);
        let mut at = START + HOUR * chance.below(200) as u32;
        let varies = chance.percent(30.0);
        let mut window = 1 + chance.below(15) as u32;
        for _ in 0..200 {
            if varies && chance.percent(20.0) {
                window = chance.below(15) as u32;
            }
            let claim = (!chance.percent(10.0)).then_some(at);
            builder.entry(feed, TraceRow { visible: at, claim, window: Some(window), bytes: None });
            at = (at + Duration::from_secs_f64(chance.exponential(gap))).floor_to_second();
        }
    }
    builder.finish(10)
}

/// Phases of odd lengths, so that they do not end with a cycle.
fn phases(world: &World, chance: &mut Chance, warm_up: bool) -> Phases {
    let odd = |hours: usize, chance: &mut Chance| {
        HOUR * chance.below(hours) as u32 + Duration::from_secs(chance.below(3600) as u64)
    };
    let start = START + odd(48, chance);
    let (train, test) = (odd(120, chance), HOUR + odd(150, chance));
    Phases::over(world, Some(start), train, test, warm_up).unwrap()
}

/// Returns the entries of the test phase after the first poll of their feed.
fn published(world: &World, phases: &Phases) -> u64 {
    let of = |visible: &[Time]| {
        let from = phases.first_poll(visible)?.max(phases.test_start());
        Some(visible.iter().filter(|t| **t > from && **t <= phases.end()).count() as u64)
    };
    world.feeds.iter().filter_map(|feed| of(feed.visible())).sum()
}

#[test]
fn every_strategy_accounts_for_the_entries_of_the_test_phase() {
    let mut n_warm = 0;
    for seed in 0..SEEDS {
        for warm_up in [false, true] {
            let mut chance = Chance::new(seed, 1);
            let world = world(&mut chance);
            let phases = phases(&world, &mut chance, warm_up);
            let polls = 1 + chance.below(400);
            let allowance = PollAllowance { polls, per: 24 * HOUR };
            let cycle = Duration::from_secs(300 + 60 * chance.below(60) as u64);
            let estimator = Estimator::ALL[chance.below(Estimator::ALL.len())];
            let setting = BudgetSetting {
                phases,
                allowance,
                cycle,
                estimator,
                options: BudgetOptions::default(),
            };
            let expected = published(&world, &phases);
            for spent in spend_all(&world, &Strategy::ALL.map(Spender::from), &setting, 2) {
                let name = format!("{} {estimator}, seed {seed}, {warm_up}", spent.spender);
                assert_eq!(spent.found + spent.missed + spent.open, expected, "{name}");
                // No entry of the test phase waits longer than it lasts.
                let longest = spent.delay_max.unwrap_or(0.0);
                assert!(longest <= phases.test.as_secs_f64(), "{name}: {longest} s");
                n_warm += u64::from(warm_up) * spent.found;
            }
        }
    }
    assert!(n_warm > 1000, "{n_warm}");
}

#[test]
fn every_policy_accounts_for_the_entries_of_the_test_phase() {
    for seed in 0..SEEDS {
        for warm_up in [false, true] {
            let mut chance = Chance::new(seed, 1);
            let world = world(&mut chance);
            let phases = phases(&world, &mut chance, warm_up);
            let expected = published(&world, &phases);
            for text in Policy::examples() {
                let (spec, setting) = (text.parse().unwrap(), Setting::new(phases));
                let total = lab::run(&world, &spec, &setting, &RunProgress::default()).total;
                let counted = total.found + total.missed + total.open;
                assert_eq!(counted, expected, "{text}, seed {seed}, {warm_up}");
            }
        }
    }
}

/// With a generous budget a warm-up causes no misses.
#[test]
fn a_warm_up_is_not_counted_as_missed() {
    let mut chance = Chance::new(5, 1);
    let world = world(&mut chance);
    for warm_up in [false, true] {
        let phases = Phases::over(&world, Some(START), 72 * HOUR, 72 * HOUR, warm_up).unwrap();
        let setting = BudgetSetting {
            phases,
            allowance: PollAllowance { polls: 100_000, per: 24 * HOUR },
            cycle: HOUR / 6,
            estimator: Estimator::Periodic,
            options: BudgetOptions::default(),
        };
        let spent = lab::budget::spend(&world, Strategy::Uniform.into(), &setting);
        assert!(spent.found > 50, "{warm_up}: {spent:?}");
        assert!(spent.missed * 10 < spent.found, "{warm_up}: {spent:?}");
        assert!(spent.delay.unwrap() < 1800.0, "{warm_up}: {spent:?}");
    }
}
