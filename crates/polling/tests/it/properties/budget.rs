//! Properties of every model and allocator: utility rises until saturation, and more budget never
//! means more expected delay.

use std::time::Duration;

use feed::Time;
use polling::budget::allocation::{DailyLimits, per_day};
use polling::budget::allocation::{Demand, delay, min_delay, min_delay_within};
use polling::budget::curve::Curve;
use polling::budget::{Strategy as Spending, Tracked, lambda_crawl, schedule};
use polling::model::{HourlyRates, Model};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn utility_rises_with_time_and_its_inverse_finds_it(
        hours in prop::collection::vec(prop_oneof![Just(0.0), 0.0..0.01_f64], 24),
        start in 0_u32..1_000_000,
        steps in prop::collection::vec(1_u32..100_000, 1..12),
    ) {
        let model = Model::Frozen(HourlyRates { hours, zone_secs: 0 });
        let start = Time::from_secs(start.into());
        let (mut now, mut before, mut expected_before) = (start, 0.0, 0.0);
        for step in steps {
            now = now + Duration::from_secs(step.into());
            let (expected, utility) = (model.expect(start, now), model.utility(start, now));
            let slack = 1e-9 * utility.abs() + 1e-9;
            prop_assert!(utility + slack >= before && expected + 1e-9 >= expected_before);
            // U = ∫ (x − t0) dDiv, so it lies between its steps' ends.
            let gained = expected - expected_before;
            let secs = now.since(start).as_secs_f64();
            prop_assert!(utility - before <= gained * secs + slack);
            // Slightly less: before a quiet hour the last bit would decide the day.
            let sought = utility * (1.0 - 1e-9);
            if let Some(until) = model.until_utility(start, sought).filter(|_| utility > 1e-6) {
                let back = model.utility(start, start.shifted((until * 1000.0) as i64));
                let near = 1e-6 * utility + 0.02 * secs;
                prop_assert!((back - utility).abs() <= near, "{back} {utility}");
                prop_assert!(until <= secs + 0.001);
            }
            (before, expected_before) = (utility, expected);
        }
    }

    #[test]
    fn more_budget_never_means_more_delay(
        feeds in prop::collection::vec((0.001..1000.0_f64, 0.1..10.0_f64), 1..30),
        budget in 0.1..500.0_f64,
        more in 1.0..3.0_f64,
    ) {
        let feeds: Vec<Demand> = feeds
            .into_iter()
            .map(|(rate, weight)| Demand { rate, weight, cost: 1.0 })
            .collect();
        for allocate in [min_delay, lambda_crawl::polls] {
            let (less, rich) = (allocate(&feeds, budget), allocate(&feeds, budget * more));
            prop_assert!((less.iter().sum::<f64>() / budget - 1.0).abs() < 1e-9);
            prop_assert!(delay(&feeds, &rich) <= delay(&feeds, &less) * (1.0 + 1e-9));
        }
    }

    #[test]
    fn one_more_poll_in_the_day_never_means_more_delay(
        hours in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1.0_f64], 24),
    ) {
        let curve = Curve::slots(&hours, 24.0);
        let mut before = f64::INFINITY;
        for m in [1, 2, 3, 4, 5, 6, 11, 24, 25, 60] {
            let points = schedule::best(&curve, m);
            prop_assert_eq!(points.len(), m);
            let delay = schedule::delay(&curve, &points);
            let even = schedule::delay(&curve, &schedule::even(&curve, m, 0.0));
            prop_assert!(delay <= even + 1e-9, "{} {}", delay, even);
            prop_assert!(delay <= before + 1e-9, "{} polls: {} {}", m, delay, before);
            before = delay;
        }
    }

    /// Over many orders of magnitude; a budget lost to rounding is a feed that is never polled.
    #[test]
    fn every_allocator_spends_its_budget_and_no_poll_is_negative(
        feeds in prop::collection::vec((-7.0..5.0_f64, -2.0..3.0_f64, 1_u32..300), 1..25),
        polls in -3.0..6.0_f64,
    ) {
        let tracked = |&(rate, weight, window): &(f64, f64, u32)| {
            let rate = 10.0_f64.powf(rate) / 86_400.0;
            let model = Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 });
            Tracked { weight: 10.0_f64.powf(weight), window, ..Tracked::new(model) }
        };
        let feeds: Vec<Tracked> = feeds.iter().map(tracked).collect();
        let budget = 10.0_f64.powf(polls);
        for strategy in Spending::ALL {
            let polls = per_day(strategy, &feeds, DailyLimits { polls: budget, bytes: None });
            let spent: f64 = polls.iter().sum();
            prop_assert!((spent / budget - 1.0).abs() < 1e-6, "{} {} {}", strategy, spent, budget);
            prop_assert!(polls.iter().all(|m| *m >= 0.0 && m.is_finite()), "{}", strategy);
        }
    }

    #[test]
    fn a_feed_stands_ever_higher_until_it_is_saturated_and_then_stays(
        hours in prop::collection::vec(prop_oneof![Just(0.0), 0.0..0.01_f64], 24),
        window in 1_u32..60,
        selectivity in 0.01..1.0_f64,
        steps in prop::collection::vec(1_u32..40_000, 1..20),
    ) {
        let model = Model::Frozen(HourlyRates { hours, zone_secs: -3600 });
        let mut now = Time::from_secs(1_700_000_000);
        let feed = Tracked { last: Some(now), window, selectivity, ..Tracked::new(model) };
        let mut before = feed.urgency(now);
        for step in steps {
            now = now + Duration::from_secs(step.into());
            let urgency = feed.urgency(now);
            prop_assert!(urgency.divergence >= before.divergence * (1.0 - 1e-12));
            // The time of saturation is known to the millisecond.
            prop_assert!(urgency.utility >= before.utility * (1.0 - 1e-6));
            prop_assert!(urgency.saturated || !before.saturated);
            if before.saturated {
                prop_assert_eq!(urgency, before);
            }
            let full = selectivity * f64::from(window);
            prop_assert!(urgency.divergence <= full * (1.0 + 1e-12));
            before = urgency;
        }
    }

    /// Uses the planner's interface, with bytes limited too.
    #[test]
    fn more_of_either_limit_never_means_more_delay(
        feeds in prop::collection::vec((1e-7..1e-2_f64, 0.1..10.0_f64, 1e2..1e6_f64), 1..20),
        polls in 0.5..500.0_f64,
        bytes in 1e3..1e8_f64,
        more in (1.0..3.0_f64, 1.0..3.0_f64),
    ) {
        let demand = |&(rate, weight, cost): &(f64, f64, f64)| Demand { rate, weight, cost };
        let demands: Vec<Demand> = feeds.iter().map(demand).collect();
        let least = |polls, bytes| delay(&demands, &min_delay_within(&demands, polls, bytes));
        prop_assert!(least(polls * more.0, bytes) <= least(polls, bytes) * (1.0 + 1e-9));
        prop_assert!(least(polls, bytes * more.1) <= least(polls, bytes) * (1.0 + 1e-9));
        let tracked = |&(rate, weight, cost): &(f64, f64, f64)| {
            let model = Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 });
            Tracked { weight, cost, ..Tracked::new(model) }
        };
        let tracked: Vec<Tracked> = feeds.iter().map(tracked).collect();
        for strategy in [Spending::MinDelayAllocation, Spending::LambdaCrawl] {
            let waiting = |polls: f64| {
                let limits = DailyLimits { polls, bytes: None };
                delay(&demands, &per_day(strategy, &tracked, limits))
            };
            prop_assert!(waiting(polls * more.0) <= waiting(polls) * (1.0 + 1e-9));
        }
    }

    /// From an entry in centuries to a million a second, polled after a moment or after years.
    #[test]
    fn no_rate_and_no_gap_is_too_large_to_stand_somewhere(
        rates in prop::collection::vec(prop_oneof![Just(0.0), -10.0..6.0_f64], 24),
        window in prop_oneof![1_u32..100, Just(u32::MAX)],
        gap in prop_oneof![1_i64..100_000, 1_i64..4_000_000_000],
        zone_secs in -50_400_i32..50_401,
    ) {
        let rate = |log: &f64| if *log == 0.0 { 0.0 } else { 10.0_f64.powf(*log) };
        let hours = rates.iter().map(rate).collect();
        let model = Model::Frozen(HourlyRates { hours, zone_secs });
        let last = Time::from_secs(1_483_228_799);
        let feed = Tracked { last: Some(last), window, ..Tracked::new(model) };
        let urgency = feed.urgency(last.shifted(gap * 1000));
        prop_assert!(urgency.divergence >= 0.0 && urgency.divergence <= f64::from(window));
        prop_assert!(urgency.utility >= 0.0 && urgency.utility.is_finite());
        if let Some(until) = feed.believed().until_utility(last, 3600.0) {
            prop_assert!(until >= 0.0 && until.is_finite());
        }
    }
}
