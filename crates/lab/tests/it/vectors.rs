//! The reference vectors in `tests/data`.

use feed::Time;
use serde_json::Value;

pub fn read(name: &str) -> Value {
    let path = format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

pub fn int(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

pub fn float(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

pub fn time(value: &Value) -> Time {
    Time::from_secs(int(value))
}

/// Returns the numbers of a list, or of the values of a map.
pub fn times(value: &Value) -> Vec<Time> {
    match value {
        Value::Array(list) => list.iter().map(time).collect(),
        Value::Object(map) => map.values().map(time).collect(),
        _ => panic!("no list of times: {value}"),
    }
}
