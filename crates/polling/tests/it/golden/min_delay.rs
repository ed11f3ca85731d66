//! Minimal delay and the crawler policies (source 002) against examples, vectors and optima.

use polling::budget::allocation::{Demand, delay, min_delay};
use polling::budget::curve::Curve;
use polling::budget::{crawl_age, crawl_freshness, schedule, search};
use serde_json::Value;
use std::f64::consts::PI;

use crate::support::vectors::{float, floats, integer, list, named};

#[track_caller]
fn check_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

#[track_caller]
fn check_all(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).for_each(|(a, b)| check_close(*a, *b, tolerance));
}

fn demands(rates: &Value, weights: Option<&Value>) -> Vec<Demand> {
    let weights = weights.map(floats);
    let demand = |(i, rate): (usize, f64)| {
        let weight = weights.as_ref().map_or(1.0, |w| w[i]);
        Demand { rate, weight, cost: 1.0 }
    };
    floats(rates).into_iter().enumerate().map(demand).collect()
}

/// λ(t) = 2 + 2 sin 2πt on a period of one, with its integrals.
fn sine() -> Curve {
    Curve::Smooth {
        rate: |t| 2.0 + 2.0 * (2.0 * PI * t).sin(),
        sum: |t| 2.0 * t + (1.0 - (2.0 * PI * t).cos()) / PI,
        sum_of_sums: |t| t * t + t / PI - (2.0 * PI * t).sin() / (2.0 * PI * PI),
        period: 1.0,
    }
}

#[test]
fn allocations_follow_theorem_1() {
    for vectors in named("sia_vectors") {
        for row in list(&vectors["allocation"]) {
            let feeds = demands(&row["rates"], Some(&row["weights"]));
            check_all(&min_delay(&feeds, float(&row["M"])), &floats(&row["m"]), 1e-12);
        }
    }
    for examples in named("sia_examples") {
        let row = &examples["theorem1"];
        let feeds = demands(&row["rates"], Some(&row["weights"]));
        let polls = min_delay(&feeds, float(&row["M"]));
        check_all(&polls, &floats(&row["m"]), 1e-9);
        check_close(delay(&feeds, &polls), float(&row["delay"]), 1e-9);
    }
}

/// Polls are exchanged between two feeds at a time, each time to the best share, until nothing
/// moves. This finds the optimum without the theorem.
#[test]
fn the_allocation_is_the_numerical_optimum() {
    for examples in named("sia_examples") {
        let row = &examples["theorem1"];
        let feeds = demands(&row["rates"], Some(&row["weights"]));
        let n = feeds.len();
        let mut m = vec![float(&row["M"]) / n as f64; n];
        for _ in 0..2000 {
            for i in 0..n {
                let j = (i + 1) % n;
                let both = m[i] + m[j];
                let waiting =
                    |x: f64| delay(&feeds[i..=i], &[x]) + delay(&feeds[j..=j], &[both - x]);
                let (mut low, mut high) = (0.0, both);
                for _ in 0..120 {
                    let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                    if waiting(a) < waiting(b) { high = b } else { low = a }
                }
                (m[i], m[j]) = (low, both - low);
            }
        }
        check_all(&min_delay(&feeds, float(&row["M"])), &m, 1e-6);
    }
}

#[test]
fn delays_of_given_points_hold() {
    for vectors in named("sia_vectors") {
        for row in list(&vectors["delays"]) {
            let curve = Curve::slots(&floats(&row["rates"]), float(&row["T"]));
            let found = schedule::delay(&curve, &floats(&row["taus"]));
            check_close(found, float(&row["delay"]), 1e-12);
        }
    }
}

#[test]
fn example_1_is_best_at_the_end_of_the_busy_half() {
    for examples in named("sia_examples") {
        let row = &examples["example1"];
        let curve = Curve::slots(&[1.0, 0.0], 2.0);
        let points = schedule::best(&curve, 1);
        check_close(points[0], float(&row["best_tau"]), 1e-7);
        check_close(schedule::delay(&curve, &points), float(&row["best"]), 1e-7);
        let worst = float(&row["worst_tau"]);
        check_close(schedule::delay(&curve, &[worst]), float(&row["worst"]), 1e-12);
        check_close(schedule::delay(&curve, &[0.0]), float(&row["at0"]), 1e-12);
        check_close(float(&row["worst"]) / float(&row["best"]), float(&row["ratio"]), 1e-12);
    }
}

#[test]
fn example_2_is_found_both_ways() {
    for examples in named("sia_examples") {
        let row = &examples["example2"];
        let (points, curve) = (floats(&row["points"]), sine());
        let exhaustive = search::exhaustive(&curve, 6);
        check_all(&exhaustive, &points, 1e-7);
        check_all(&exhaustive, &floats(&row["exhaustive"]), 1e-7);
        let delay = schedule::delay(&curve, &exhaustive);
        check_close(delay, float(&row["delay"]), 1e-7);
        check_close(delay, float(&row["exhaustive_delay"]), 1e-12);
        let iterative = schedule::refined(&curve, schedule::even(&curve, 6, 0.0));
        check_all(&iterative, &points, 1e-7);
        check_all(&iterative, &floats(&row["iterative"]), 1e-7);
        let delay = schedule::delay(&curve, &iterative);
        check_close(delay, float(&row["iterative_delay"]), 1e-12);
        let even = schedule::delay(&curve, &schedule::even(&curve, 6, 0.0));
        for name in ["homogeneous", "even_best", "even_worst"] {
            check_close(even, float(&row[name]), 1e-12);
        }
    }
}

#[test]
fn sine_schedules_of_other_sizes_hold() {
    for examples in named("sia_examples") {
        for (m, row) in examples["sine_schedules"].as_object().unwrap() {
            let found = schedule::refined(&sine(), schedule::best(&sine(), m.parse().unwrap()));
            check_close(schedule::delay(&sine(), &found), float(&row["delay"]), 1e-9);
            check_all(&found, &floats(&row["points"]), 1e-6);
        }
        let row = &examples["theorem2_sine"];
        let found = schedule::refined(&sine(), schedule::best(&sine(), 1));
        check_close(found[0], float(&row["tau"]), 1e-7);
        check_close(schedule::delay(&sine(), &found), float(&row["delay"]), 1e-9);
    }
}

#[test]
fn schedules_on_the_grid_hold() {
    for vectors in named("sia_vectors") {
        for row in list(&vectors["grid_schedules"]) {
            let rates: Vec<f64> = floats(&vectors["patterns"][row["pattern"].as_str().unwrap()])
                .iter()
                .map(|share| share * 24.0)
                .collect();
            let (curve, m) = (Curve::slots(&rates, 1.0), integer(&row["m"]) as usize);
            let at =
                |slots: &[usize]| -> Vec<f64> { slots.iter().map(|s| *s as f64 / 48.0).collect() };
            let slots = search::on_grid(&curve, m, 48);
            let expected = float(&row["delay_days_per_posting"]);
            check_close(schedule::delay(&curve, &at(&slots)), expected, 1e-9);
            if row["note"] == "" {
                let published: Vec<usize> =
                    list(&row["slots_of_48"]).iter().map(|s| integer(s) as usize).collect();
                assert_eq!(slots, published, "{row}");
            }
            // Without the grid it can only be better.
            let free = schedule::delay(&curve, &schedule::refined(&curve, at(&slots)));
            assert!(free <= expected + 1e-12, "{row} {free}");
            assert!(
                schedule::delay(&curve, &schedule::best(&curve, m))
                    <= float(&row["even_best"]) + 1e-12
            );
            // Even points at every position of the grid: the best and the worst of them.
            let even = (0..48).map(|offset| {
                schedule::delay(&curve, &schedule::even(&curve, m, f64::from(offset) / 48.0))
            });
            let (best, worst) = even.fold((f64::INFINITY, 0.0_f64), |(least, most), delay| {
                (least.min(delay), most.max(delay))
            });
            check_close(best, float(&row["even_best"]), 1e-12);
            check_close(worst, float(&row["even_worst"]), 1e-12);
        }
    }
}

#[test]
fn crawler_policies_are_the_textbooks() {
    for vectors in named("sia_vectors") {
        let row = &vectors["cgm_classic"];
        let (feeds, budget) = (demands(&row["rates"], None), float(&row["budget"]));
        check_all(&crawl_freshness::polls(&feeds, budget), &floats(&row["freshness"]), 1e-9);
        check_all(&crawl_age::polls(&feeds, budget), &floats(&row["age"]), 1e-9);
    }
}
