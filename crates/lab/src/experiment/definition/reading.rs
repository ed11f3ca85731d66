//! Defaults of keys, and functions that parse their values.

use std::time::Duration;

use feed::Time;
use polling::budget::{Estimator, Spender};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

pub(super) const fn window() -> u32 {
    20
}

const fn days(n: u64) -> Duration {
    Duration::from_secs(n * 86_400)
}

pub(super) const fn minute() -> Duration {
    Duration::from_secs(60)
}

pub(super) const fn ten_minutes() -> Duration {
    Duration::from_secs(600)
}

pub(super) const fn hour() -> Duration {
    Duration::from_secs(3600)
}

pub(super) const fn day() -> Duration {
    days(1)
}

pub(super) const fn week() -> Duration {
    days(7)
}

pub(super) const fn fortnight() -> Duration {
    days(14)
}

pub(super) const fn twenty_days() -> Duration {
    days(20)
}

pub(super) const fn four_weeks() -> Duration {
    days(28)
}

pub(super) const fn twelve() -> usize {
    polling::model::profile::K
}

pub(super) const fn ones() -> [f64; 3] {
    [1.0; 3]
}

pub(super) const fn two_ones() -> [f64; 2] {
    [1.0; 2]
}

pub(super) fn duration<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
    polling::parse_duration(&String::deserialize(d)?).map_err(Error::custom)
}

pub(super) fn moment<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Time>, D::Error> {
    let text = String::deserialize(d)?;
    let time = crate::world::trace::moment(&text);
    time.map(Some).ok_or_else(|| Error::custom(format!("`{text}` is not a time")))
}

pub(super) fn word<'de, D: Deserializer<'de>>(d: D) -> Result<Estimator, D::Error> {
    String::deserialize(d)?.parse().map_err(Error::custom)
}

pub(super) fn estimators<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Estimator>, D::Error> {
    let words = Vec::<String>::deserialize(d)?;
    words.iter().map(|word| word.parse().map_err(Error::custom)).collect()
}

pub(super) fn durations<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Duration>, D::Error> {
    let words = Vec::<String>::deserialize(d)?;
    words.iter().map(|word| polling::parse_duration(word).map_err(Error::custom)).collect()
}

pub(super) fn spenders<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Spender>, D::Error> {
    let words = Vec::<String>::deserialize(d)?;
    words.iter().map(|word| word.parse().map_err(Error::custom)).collect()
}

/// Reads a list of values that are written as words.
pub(super) fn words<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let texts = Vec::<String>::deserialize(from)?;
    texts.iter().map(|text| text.parse().map_err(Error::custom)).collect()
}
