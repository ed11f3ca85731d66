//! The trained policies' arithmetic and the worked examples against their vectors.

use std::time::Duration;

use feed::Time;
use polling::model::histogram::{Histogram, Period};
use polling::policy::Training;
use polling::policy::indhist_ttl::is_burst;
use polling::policy::lihz::WeekdayCounts;
use polling::policy::lru_2::two_newest;
use polling::{Bounds, Decimal, Policy};
use serde_json::Value;

use crate::support::vectors::{fraction, integer, list, named, seconds, seen, times};

/// A histogram with the given rates: the counts over their common denominator.
fn histogram(rates: &Value, zone_secs: i32) -> Histogram {
    let parts: Vec<(i64, i64)> =
        list(rates).iter().map(|r| (integer(&r[0]), integer(&r[1]))).collect();
    let days = parts.iter().fold(1, |lcm, (_, den)| {
        let (mut a, mut b) = (lcm, *den);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        lcm / a * den
    });
    let counts = parts.iter().map(|(num, den)| (num * (days / den)).unsigned_abs()).collect();
    Histogram { period: Period::Day, counts, days: days.unsigned_abs(), zone_secs }
}

fn decimal(value: &Value) -> Decimal {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.parse().expect("a decimal")
}

#[test]
fn the_example_of_table_2_1_holds() {
    for models in named("reichert_models") {
        let row = &models["table_2_1"];
        let model = histogram(&row["rates"], 0);
        let (a, b) = (Time::from_secs(integer(&row["a"])), Time::from_secs(integer(&row["b"])));
        assert_eq!(model.expect(a, b), fraction(&row["expected"]));
    }
}

/// A history for a histogram: its entries lie in the first of its days.
fn history(model: &Histogram, end: Time) -> Vec<Time> {
    let midnight = end - Duration::from_secs(86_400 * model.days);
    let hours = model.counts.iter().zip(0..).flat_map(|(count, hour)| {
        let at = midnight + Duration::from_secs(3600) * hour;
        (0..*count).map(move |_| at)
    });
    hours.collect()
}

#[test]
fn indhist_reaches_theta_at_the_exact_moment() {
    for models in named("reichert_models") {
        for row in list(&models["indhist"]) {
            let zone_secs = integer(&row["tz"]) as i32;
            let model = histogram(&row["rates"], zone_secs);
            let at = Time::from_secs(integer(&row["tau"]));
            let next = model.reach(at, decimal(&row["theta"]));
            let interval = next.map(|next| next.plus(-i128::from(at.millis())));
            let raw = row["raw_interval"].as_array().map(|_| seconds(&row["raw_interval"]));
            assert_eq!(interval, raw, "{row}");
            // The same through the policy, trained on a history, with bounds and default. Days end
            // at midnight of the zone.
            let policy = Policy::IndHist { theta: decimal(&row["theta"]), period: Period::Day };
            let end = Time::from_secs(15_000 * 86_400 - i64::from(zone_secs));
            let history = history(&model, end);
            let training = Training { history: &history, start: end, end, zone_secs };
            let wish = policy.wish(&policy.train(&training), &seen(at, &[at]), &Bounds::EVALUATION);
            assert_eq!(wish.exact, seconds(&row["next_exact"]), "{row}");
            assert_eq!(wish.at.secs(), integer(&row["next_seconds"]), "{row}");
        }
    }
}

#[test]
fn bursts_are_detected_exactly() {
    for models in named("reichert_models") {
        for row in list(&models["burst"]) {
            let model = histogram(&row["rates"], 0);
            let at = Time::from_secs(integer(&row["tau"]));
            let span = Duration::from_secs(integer(&row["V"]).unsigned_abs());
            let from = at - span;
            assert_eq!(model.expect(from, at), fraction(&row["expected"]), "{row}");
            let n = times(&row["known"]).iter().filter(|t| **t > from && **t <= at).count();
            let burst = is_burst(&model, at, n as u64, span, decimal(&row["t_burst"]));
            assert_eq!(burst, row["burst"].as_bool().unwrap(), "{row}");
        }
    }
}

#[test]
fn training_uses_all_of_the_history_and_rounds_days_up() {
    for models in named("reichert_models") {
        let row = &models["train"];
        let end = Time::from_secs(integer(&row["end"]));
        let zone = integer(&row["tz"]) as i32;
        let model = Histogram::train(&times(&row["entries"]), end, Period::Day, zone);
        let expected = histogram(&row["all_history"], zone);
        assert_eq!((model.counts, model.days), (expected.counts, expected.days));
    }
}

#[test]
fn lihz_probabilities_and_days_hold() {
    for models in named("reichert_models") {
        for name in ["table_2_2", "lihz_one", "lihz_zero"] {
            let row = &models[name];
            let counts = |field: &str| -> [u16; 7] {
                std::array::from_fn(|i| integer(&row[field][i]) as u16)
            };
            let week = WeekdayCounts::from_counts(counts("seen"), counts("upd"));
            if let Some(expected) = row["p"].as_array() {
                for (day, p) in expected.iter().enumerate() {
                    assert_eq!(week.probability(day), fraction(p), "{name} {day}");
                }
            }
            let checks =
                row["days_until"].as_object().or(row["days_until_from_monday"].as_object());
            let Some(checks) = checks else {
                assert_eq!(week.days_until(0, "1".parse().unwrap()), None);
                continue;
            };
            for (key, days) in checks {
                let (day, sigma) = key.split_once('/').unwrap_or(("0", key));
                let found = week.days_until(day.parse().unwrap(), sigma.parse().unwrap());
                assert_eq!(found, Some(integer(days)), "{name} {key}");
            }
        }
    }
}

#[test]
fn figure_4_4_is_polled_at_the_published_times() {
    let policy: Policy = "mavsync".parse().unwrap();
    for examples in named("reichert_worked_examples") {
        let figure = &examples["fig_4_4_quantum_1s"];
        let entries = times(&figure["entries"]);
        let size = integer(&figure["window"]) as usize;
        let (mut at, end) = (integer(&figure["start"]), integer(&figure["end"]));
        let mut learned = policy.start();
        let mut polls = Vec::new();
        while at <= end {
            polls.push(at);
            let visible = entries.partition_point(|t| t.secs() <= at);
            let window = &entries[visible.saturating_sub(size)..visible];
            let seen = seen(Time::from_secs(at), window);
            policy.learn(&mut learned, &seen);
            at = policy.wish(&learned, &seen, &Bounds::EVALUATION).at.secs();
        }
        let published: Vec<i64> = list(&figure["polls"]).iter().map(integer).collect();
        assert_eq!(polls, published);
        let tie = times(&examples["lru2_tie"]["window"]);
        let (newest, previous) = two_newest(&tie);
        let gap = newest.unwrap().since(previous.unwrap()).as_secs();
        assert_eq!(gap as i64, integer(&examples["lru2_tie"]["interval"][0]));
    }
}
