//! Online change estimation (source 000) against its vectors: single variable and periodic.

use std::time::Duration;

use feed::Time;
use polling::model::periodic::Periodic;
use polling::model::single_variable::SingleVariable;
use polling::model::smoothing::Smoothing;
use serde_json::Value;

use crate::golden::periodic_readings::{self, Reading};
use crate::support::vectors::{float, floats, integer, list, named};

const HOUR: f64 = 3600.0;

/// The vectors count hours; models count from the epoch.
fn hours(value: &Value) -> Time {
    Time::from_millis((float(value) * 3_600_000.0).round() as i64)
}

#[track_caller]
fn check_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{found} {expected}");
}

#[test]
fn the_single_variable_follows_its_vectors() {
    for vectors in named("horincar2012_models") {
        let row = &vectors["single"];
        let mut model = SingleVariable::new(Smoothing::Fixed(float(&row["alpha"])));
        model.update(hours(&row["steps"][0]["T_r"]), 0.0, Some(float(&row["init"]) / HOUR));
        for step in list(&row["steps"]) {
            let (last, at) = (hours(&step["T_r"]), hours(&step["T"]));
            check_close(model.flat.expect(last, at), float(&step["div_est_before"]));
            model.update(at, float(&step["x"]), None);
            check_close(model.flat.rate * HOUR, float(&step["rate_after"]));
        }
    }
}

#[test]
fn the_periodic_model_follows_its_vectors() {
    for vectors in named("horincar2012_models") {
        for name in ["periodic_floor_zero", "periodic_floor_ramp"] {
            let row = &vectors[name];
            let n = integer(&row["n"]) as usize;
            let period = Duration::from_secs(integer(&row["period"]).unsigned_abs() * 3600);
            let mut model =
                Periodic::new(n, period, Smoothing::Fixed(float(&row["alpha"]))).unwrap();
            model.update(hours(&row["steps"][0]["T_r"]), 0.0, Some(0.0));
            if name.ends_with("ramp") {
                model.rates = (0..n).map(|i| 0.1 * i as f64 / HOUR).collect();
            }
            for step in list(&row["steps"]) {
                let (last, at) = (hours(&step["T_r"]), hours(&step["T"]));
                check_close(model.expect(last, at), float(&step["div_est_before"]));
                model.update(at, float(&step["x"]), None);
                for (rate, expected) in model.rates.iter().zip(floats(&step["rates_after"])) {
                    check_close(rate * HOUR, expected);
                }
            }
        }
    }
}

/// The alternative interpretations follow their vectors too; otherwise comparing them would prove
/// nothing.
#[test]
fn the_alternative_readings_follow_their_vectors() {
    for vectors in named("horincar2012_models") {
        for (name, reading) in [("literal", Reading::Literal), ("uniform", Reading::Uniform)] {
            for start in ["zero", "ramp"] {
                let row = &vectors[format!("periodic_{name}_{start}")];
                let ramp = if start == "ramp" { 0.1 } else { 0.0 };
                let mut rates: Vec<f64> =
                    (0..integer(&row["n"])).map(|i| ramp * i as f64).collect();
                for step in list(&row["steps"]) {
                    let (last, at) = (float(&step["T_r"]), float(&step["T"]));
                    let expected = periodic_readings::expect(&rates, last, at);
                    check_close(expected, float(&step["div_est_before"]));
                    let a = float(&row["alpha"]);
                    periodic_readings::update(
                        &mut rates,
                        (last, at),
                        float(&step["x"]),
                        a,
                        reading,
                    );
                    for (rate, expected) in rates.iter().zip(floats(&step["rates_after"])) {
                        check_close(*rate, expected);
                    }
                }
            }
        }
    }
}
