//! Encodes models: a version, a kind, then the data of the kind. A model takes at most a kilobyte;
//! only the frozen week of 168 rates, which the lab may hold, takes 1.4.
//!
//! ```
//! use polling::model::{Model, ModelKind};
//!
//! let model = ModelKind::Periodic.start();
//! assert_eq!(Model::decode(&model.encode()), Some(model));
//! assert_eq!(Model::decode(b"not ours"), None);
//! ```

use std::ops::RangeInclusive;

use feed::Time;

use super::changes::{Changes, KEPT};
use super::daily_total::DailyTotal;
use super::homogeneous::Homogeneous;
use super::offline::OfflineProfile;
use super::periodic::{PERIOD_MS_MAX, Periodic, SLOTS_MAX};
use super::single_variable::SingleVariable;
use super::sliding_days::SlidingDays;
use super::smoothing::Smoothing;
use super::tide::{TideLayout, TideModel};
use super::{HourlyRates, Model};
use crate::bytes::{ByteReader, put_time};

/// The layout of the stored bytes.
const VERSION: u8 = 1;
/// Kinds of models. Those of `tide` are numbered by its layouts, from 6 on.
const DAILY_TOTAL: u8 = 100;
const OFFLINE: u8 = 101;
const WEEK_HOURS: usize = 168;
/// The largest plausible error of a model, in entries.
const ERROR_MAX: f64 = 1e24;
/// The range of intervals between two polls, in seconds.
const INTERVALS: RangeInclusive<f64> = 1e-3..=1e16;
/// The shortest slot. With shorter ones a lookahead of weeks would take hours.
const SLOT_MS_MIN: i64 = 60_000;

impl Model {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        match self {
            Model::Homogeneous(flat) => {
                bytes.push(0);
                bytes.extend(flat.rate.to_le_bytes());
            }
            Model::SingleVariable(model) => {
                bytes.push(1);
                put_smoothing(&mut bytes, model.smoothing);
                bytes.extend(model.flat.rate.to_le_bytes());
                put_time(&mut bytes, model.last);
            }
            Model::Periodic(model) => {
                bytes.push(2);
                put_smoothing(&mut bytes, model.smoothing);
                put_time(&mut bytes, model.last);
                bytes.extend(model.slot_ms.to_le_bytes());
                put_rates(&mut bytes, &model.rates);
            }
            Model::Changes(model) => {
                bytes.push(5);
                put_time(&mut bytes, model.last);
                bytes.extend(model.flat.rate.to_le_bytes());
                bytes.push(model.intervals.len() as u8);
                // A negative interval is one without a change.
                let signed = |(secs, changed): &(f64, bool)| if *changed { *secs } else { -secs };
                bytes.extend(model.intervals.iter().map(signed).flat_map(f64::to_le_bytes));
            }
            Model::Sliding(days, _) => {
                bytes.push(3);
                days.write(&mut bytes);
            }
            Model::Tide(model) => {
                bytes.push(8);
                model.write(&mut bytes);
            }
            Model::DailyTotal(model) => {
                bytes.push(DAILY_TOTAL);
                put_smoothing(&mut bytes, model.smoothing);
                put_time(&mut bytes, model.last);
                put_rates(&mut bytes, &model.rates);
            }
            Model::Offline(model) => {
                bytes.push(OFFLINE);
                model.write(&mut bytes);
            }
            Model::Frozen(rates) => {
                bytes.push(4);
                bytes.extend(rates.zone_secs.to_le_bytes());
                put_rates(&mut bytes, &rates.hours);
            }
        }
        bytes
    }

    /// Returns `None` for bytes that no version of this program wrote.
    pub fn decode(bytes: &[u8]) -> Option<Model> {
        let mut reader = ByteReader(bytes);
        if reader.u8()? != VERSION {
            return None;
        }
        let model = match reader.u8()? {
            0 => Model::Homogeneous(Homogeneous { rate: reader.rate()? }),
            1 => {
                let smoothing = reader.smoothing()?;
                let flat = Homogeneous { rate: reader.rate()? };
                Model::SingleVariable(SingleVariable { smoothing, flat, last: reader.time()? })
            }
            2 => {
                let (smoothing, last) = (reader.smoothing()?, reader.time()?);
                let slots = SLOT_MS_MIN..=PERIOD_MS_MAX;
                let slot_ms = reader.i64().filter(|ms| slots.contains(ms))?;
                let rates = reader.rates(SLOTS_MAX)?;
                Model::Periodic(Periodic { smoothing, rates, slot_ms, last })
            }
            3 => {
                let days = SlidingDays::read(&mut reader)?;
                let rates = days.rates();
                Model::Sliding(days, rates)
            }
            4 => {
                let zone_secs = reader.bytes().map(i32::from_le_bytes)?;
                Model::Frozen(HourlyRates { zone_secs, hours: reader.rates(WEEK_HOURS)? })
            }
            5 => {
                let (last, flat) = (reader.time()?, Homogeneous { rate: reader.rate()? });
                let n = reader.u8().map(usize::from).filter(|n| *n <= KEPT)?;
                let mut secs = || reader.f64().filter(|secs| INTERVALS.contains(&secs.abs()));
                let signed: Option<Vec<f64>> = (0..n).map(|_| secs()).collect();
                let pair = |secs: f64| (secs.abs(), secs > 0.0);
                let intervals = signed?.into_iter().map(pair).collect();
                Model::Changes(Changes { intervals, flat, last })
            }
            DAILY_TOTAL => {
                let (smoothing, last) = (reader.smoothing()?, reader.time()?);
                let rates = reader.rates(24).filter(|rates| rates.len() == 24)?;
                Model::DailyTotal(DailyTotal { smoothing, rates, last })
            }
            OFFLINE => Model::Offline(Box::new(OfflineProfile::read(&mut reader)?)),
            kind => Model::Tide(Box::new(TideModel::read(&mut reader, TideLayout::of(kind)?)?)),
        };
        reader.0.is_empty().then_some(model)
    }

    /// Returns whether two models are of the same kind.
    pub fn is_alike(&self, other: &Model) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Returns the last poll that the model learned from, if it is kept.
    pub fn last(&self) -> Option<Time> {
        match self {
            Model::SingleVariable(model) => model.last,
            Model::Periodic(model) => model.last,
            Model::Changes(model) => model.last,
            Model::Tide(model) => model.last(),
            Model::DailyTotal(model) => model.last,
            Model::Offline(model) => model.last(),
            Model::Homogeneous(_) | Model::Sliding(..) | Model::Frozen(_) => None,
        }
    }
}

fn put_smoothing(bytes: &mut Vec<u8>, smoothing: Smoothing) {
    let (kind, a, b) = match smoothing {
        Smoothing::Fixed(a) => (0, a, 0.0),
        Smoothing::Adjusting { error, error_abs } => (1, error, error_abs),
    };
    bytes.push(kind);
    bytes.extend(a.to_le_bytes());
    bytes.extend(b.to_le_bytes());
}

fn put_rates(bytes: &mut Vec<u8>, rates: &[f64]) {
    bytes.push(rates.len() as u8);
    bytes.extend(rates.iter().flat_map(|rate| rate.to_le_bytes()));
}

impl ByteReader<'_> {
    fn rates(&mut self, most: usize) -> Option<Vec<f64>> {
        let n = usize::from(self.u8()?);
        let rates: Option<Vec<f64>> = (0..n).map(|_| self.rate()).collect();
        rates.filter(|rates| (1..=most).contains(&rates.len()))
    }

    fn smoothing(&mut self) -> Option<Smoothing> {
        let kind = self.u8()?;
        let mut error = || self.f64().filter(|error| error.abs() <= ERROR_MAX);
        match (kind, error()?, error()?) {
            (0, a, _) => Some(Smoothing::Fixed(a)),
            (1, error, error_abs) => Some(Smoothing::Adjusting { error, error_abs }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_model_survives_being_stored_and_none_is_large() {
        let week = Duration::from_secs(7 * 86_400);
        let smoothing = Smoothing::Adjusting { error: -0.5, error_abs: 0.7 };
        let mut largest = Periodic::new(SLOTS_MAX, week, smoothing).unwrap();
        largest.rates.iter_mut().enumerate().for_each(|(i, rate)| *rate = i as f64 / 7.0);
        let mut changes = Changes::default();
        (0..99).for_each(|i| changes.update(Time::from_secs(i * i), i % 3 == 0));
        let models = [
            Model::Periodic(Periodic { last: Some(Time::from_millis(-1)), ..largest }),
            Model::Changes(changes),
            Model::sliding(),
            Model::single_variable(smoothing),
            Model::Homogeneous(Homogeneous { rate: 0.1 }),
            Model::Frozen(HourlyRates { hours: vec![0.1; 24], zone_secs: -3600 }),
        ];
        for model in models {
            let bytes = model.encode();
            assert!(bytes.len() <= 1000, "{} bytes", bytes.len());
            assert_eq!(Model::decode(&bytes).as_ref(), Some(&model));
            assert_eq!(Model::decode(&bytes[..bytes.len() - 1]), None);
        }
        let week = Model::Frozen(HourlyRates { hours: vec![0.1; WEEK_HOURS], zone_secs: 0 });
        assert_eq!(Model::decode(&week.encode()), Some(week));
    }
}
