//! Strategies under a budget.

use std::time::Duration;

use feed::Time;
use lab::budget::{BudgetOptions, BudgetSetting, PollAllowance, StrategyRun, spend, spend_all};
use lab::{Chance, Phases, World, WorldFeed};
use polling::budget::{Estimator, Spender, Strategy};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
const START: Time = Time::from_secs(1_500_000_000);

/// Feeds from one entry in ten days to thirty per day, mostly in the working hours of their zone.
fn world(feeds: usize, days: u32, seed: u64) -> World {
    let feed = |number: usize| {
        let mut chance = Chance::new(seed, number as u64);
        let per_day = chance.power_law(0.1, 30.0, 1.2);
        let opens = chance.below(24) as i64;
        let mut times = vec![START];
        let mut at = START;
        loop {
            at = at + Duration::from_secs_f64(chance.exponential(86_400.0 / per_day / 1.9));
            if at > START + DAY * days {
                break;
            }
            let hour = (at.secs() / 3600 - opens).rem_euclid(24);
            if hour < 10 || chance.percent(20.0) {
                times.push(at.floor_to_second());
            }
        }
        WorldFeed::new(&format!("feed {number}"), times)
    };
    let domains = (0..feeds).map(|i| vec![i]).collect();
    World { feeds: (0..feeds).map(feed).collect(), window: 10, domains }
}

fn setting(world: &World, per_day: usize, estimator: Estimator) -> BudgetSetting {
    let phases = Phases::over(world, Some(START), 14 * DAY, 20 * DAY, false).unwrap();
    let allowance = PollAllowance { polls: per_day, per: DAY };
    BudgetSetting {
        phases,
        allowance,
        cycle: HOUR / 6,
        estimator,
        options: BudgetOptions::default(),
    }
}

#[test]
fn every_strategy_keeps_its_books_and_its_budget() {
    let world = world(60, 34, 1);
    for estimator in Estimator::ALL {
        let setting = setting(&world, 120, estimator);
        for spent in spend_all(&world, &Strategy::ALL.map(Spender::from), &setting, 2) {
            let name = format!("{} {estimator}", spent.spender.strategy);
            let phases = &setting.phases;
            let counted = |t: &&Time| **t > phases.test_start() && **t <= phases.end();
            let appeared: usize =
                world.feeds.iter().map(|f| f.visible().iter().filter(counted).count()).sum();
            assert_eq!(spent.found + spent.missed + spent.open, appeared as u64, "{name}");
            assert!(spent.polls > 100, "{name}: {}", spent.polls);
            // 2400 polls in twenty days, plus the debt of the last cycle.
            assert!(spent.polls <= 2400 + world.feeds.len() as u64, "{name}: {}", spent.polls);
            let capped = !matches!(spent.spender.strategy, Strategy::TwoSteps | Strategy::OnlyTau);
            // The last plan, at midnight, belongs to a new day for tide: at most three even shares
            // of a cycle.
            let most = if spent.spender.strategy == Strategy::Tide { 2403 } else { 2400 };
            assert!(!capped || spent.polls <= most, "{name}: {}", spent.polls);
            assert!(spent.window_freshness.unwrap() <= 1.0, "{name}");
        }
    }
}

#[test]
fn the_oracle_is_never_wrong_and_two_steps_with_it_loses_less_than_turns() {
    let world = world(60, 34, 2);
    let setting = setting(&world, 60, Estimator::Oracle);
    let [two_steps, uniform] =
        [Strategy::TwoSteps, Strategy::Uniform].map(|s| spend(&world, s.into(), &setting));
    assert_eq!(two_steps.divergence_error, Some(0.0));
    assert!(two_steps.completeness > uniform.completeness, "{two_steps:?} {uniform:?}");
    assert!(two_steps.missed < uniform.missed / 2, "{} {}", two_steps.missed, uniform.missed);
}

/// The findings of source 002: allocation improves the mean most and worsens the maximum. The
/// schedule improves the mean less and keeps the maximum at a day.
#[test]
fn allocation_gains_most_and_the_schedule_keeps_the_maximum() {
    let mut world = world(150, 34, 3);
    world.window = 1000;
    let setting = setting(&world, 150, Estimator::Offline);
    let strategies = [
        Strategy::Uniform,
        Strategy::MinDelaySchedule,
        Strategy::MinDelayAllocation,
        Strategy::MinDelay,
    ];
    let spent: Vec<StrategyRun> = spend_all(&world, &strategies.map(Spender::from), &setting, 2);
    let delay = |i: usize| spent[i].delay.unwrap();
    let longest = |i: usize| spent[i].delay_max.unwrap();
    assert!(delay(1) < 0.97 * delay(0), "schedule {} uniform {}", delay(1), delay(0));
    assert!(delay(2) < 0.85 * delay(0), "allocation {} uniform {}", delay(2), delay(0));
    assert!(delay(2) < delay(1), "allocation {} schedule {}", delay(2), delay(1));
    assert!(delay(3) < delay(2), "both {} allocation {}", delay(3), delay(2));
    assert!(longest(1) < 1.2 * 86_400.0, "{}", longest(1));
    assert!(longest(2) > 2.0 * 86_400.0, "{}", longest(2));
}

#[test]
fn a_feed_that_comes_later_joins_with_its_first_entry() {
    let mut world = world(3, 34, 4);
    let times = (0..200).map(|h| START + 20 * DAY + HOUR * h).collect();
    world.feeds.push(WorldFeed::new("late", times));
    let late = spend(&world, Strategy::Uniform.into(), &setting(&world, 96, Estimator::Periodic));
    world.feeds.pop();
    let without =
        spend(&world, Strategy::Uniform.into(), &setting(&world, 96, Estimator::Periodic));
    let more = late.found + late.missed + late.open - without.found - without.missed - without.open;
    assert_eq!(more, 199, "the first entry is the first window's");
}

/// If polls are so few that windows overflow, a low price of a miss does not prevent misses.
#[test]
fn the_price_of_a_miss_is_the_spenders_own() {
    let mut world = world(60, 34, 5);
    world.window = 5;
    let setting = setting(&world, 60, Estimator::Tide);
    let spenders = ["tide", "tide:730d", "tide:1m"].map(|text| text.parse::<Spender>().unwrap());
    let spent = spend_all(&world, &spenders, &setting, 2);
    let [usual, as_usual, careless] = spent.as_slice() else { panic!("{spent:?}") };
    assert_eq!(usual, as_usual, "two years are the default");
    assert_eq!(careless.spender.to_string(), "tide:1m");
    assert!(usual.missed < careless.missed, "{} {}", usual.missed, careless.missed);
    assert!(usual.delay > careless.delay, "{:?} {:?}", usual.delay, careless.delay);
}

/// Source 001 lets two-steps overspend, and source 002 leaves a slow feed alone. Both are options,
/// and live use has neither.
#[test]
fn overspending_is_kept_and_the_floor_dropped_only_where_a_reproduction_asks() {
    let world = world(60, 34, 5);
    let live = setting(&world, 60, Estimator::Periodic);
    let spent = |setting: &BudgetSetting| spend(&world, Strategy::TwoSteps.into(), setting).polls;
    let options = BudgetOptions { pay_back: false, ..live.options };
    assert!(spent(&live) <= 1200 + 60, "{}", spent(&live));
    assert!(spent(&BudgetSetting { options, ..live }) > spent(&live));
    // Sixty polls a month for sixty feeds: by the square root the slowest have far less than one.
    let scarce = BudgetSetting {
        phases: Phases::over(&world, Some(START), DAY, 33 * DAY, false).unwrap(),
        allowance: PollAllowance { polls: 60, per: 30 * DAY },
        estimator: Estimator::Offline,
        ..live
    };
    let longest = |floor: bool| {
        let options = BudgetOptions { floor, ..live.options };
        let setting = BudgetSetting { options, ..scarce };
        spend(&world, Strategy::MinDelayAllocation.into(), &setting)
    };
    let (with, without) = (longest(true), longest(false));
    assert!(with.polls > without.polls, "{} {}", with.polls, without.polls);
}
