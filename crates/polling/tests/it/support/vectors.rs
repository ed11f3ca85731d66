//! Test vectors from independent reference implementations. The copies next to the tests always
//! run; if the shared folder exists, its files of the same name run too.

use feed::{Observation, Time};
use polling::{Bounds, Fraction};
use serde_json::Value;
use std::time::Duration;

/// Returns the vectors `name`: our copy, and the shared file if it differs.
pub fn named(name: &str) -> Vec<Value> {
    let ours = format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let shared = format!("{}/../../../shared/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| {
        let text = std::fs::read_to_string(path).ok()?;
        Some(serde_json::from_str::<Value>(&text).expect("vectors are JSON"))
    };
    let mut all = vec![read(&ours).expect("the copied vectors are in the repository")];
    match read(&shared) {
        Some(value) if value != all[0] => all.push(value),
        Some(_) => {}
        None => eprintln!("no shared vectors {name}: only the copied ones are checked"),
    }
    all
}

pub fn integer(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is an integer"))
}

pub fn float(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().expect("a number in quotes"),
        _ => value.as_f64().unwrap_or_else(|| panic!("{value} is a number")),
    }
}

pub fn floats(value: &Value) -> Vec<f64> {
    list(value).iter().map(float).collect()
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is a list"))
}

pub fn times(value: &Value) -> Vec<Time> {
    list(value).iter().map(|t| Time::from_secs(integer(t))).collect()
}

/// `[numerator, denominator]`.
pub fn fraction(value: &Value) -> Fraction {
    Fraction::new(integer(&value[0]).into(), integer(&value[1]).into())
}

/// The fraction of seconds `[numerator, denominator]` in milliseconds.
pub fn seconds(value: &Value) -> Fraction {
    Fraction::new(i128::from(integer(&value[0])) * 1000, integer(&value[1]).into())
}

pub fn bounds(value: &Value) -> Bounds {
    let secs = |name: &str| Duration::from_secs(integer(&value[name]).unsigned_abs());
    Bounds::new(secs("alpha"), secs("beta"), secs("eta")).expect("the vectors' bounds are sound")
}

/// A poll that saw `window`, all of it new.
pub fn seen(at: Time, window: &[Time]) -> Observation<'_> {
    Observation::first(at, window)
}
