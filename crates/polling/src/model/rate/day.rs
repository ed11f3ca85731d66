//! Views a model as one day: its mean rate and its rate in each of 24 hours, for the allocators and
//! for schedules within a day.
//!
//! The mean is Σ λ_j/n over the n slots of the period; the rate of hour h is Div(h, h + 1)/3600 s.
//!
//! ```
//! use polling::model::{Model, HourlyRates};
//!
//! let hours = (0..24).map(|h| if h == 8 { 0.24 } else { 0.0 }).collect();
//! let model = Model::Frozen(HourlyRates { hours, zone_secs: 3600 });
//! // Eight o'clock one hour east of Greenwich is seven in UTC.
//! assert!((model.mean_rate() - 0.01).abs() < 1e-12);
//! assert!((model.day()[7] - 0.24).abs() < 1e-12 && !model.is_flat());
//! ```

use feed::Time;

use super::HOUR_MS;
use crate::model::{Model, RateForm};

impl Model {
    /// Returns the mean rate over the model's period, in entries per second.
    pub fn mean_rate(&self) -> f64 {
        match self.form() {
            RateForm::Flat(flat) => flat.rate,
            RateForm::Slots(slots, _) => slots.rates.iter().sum::<f64>() / slots.rates.len() as f64,
            RateForm::Nothing => 0.0,
        }
    }

    /// Returns whether no entry is expected, ever.
    pub fn expects_nothing(&self) -> bool {
        match self.form() {
            RateForm::Flat(flat) => flat.rate.is_nan() || flat.rate <= 0.0,
            RateForm::Slots(slots, _) => {
                slots.rates.iter().all(|rate| rate.is_nan() || *rate <= 0.0)
            }
            RateForm::Nothing => true,
        }
    }

    /// Returns whether the rate is constant.
    pub fn is_flat(&self) -> bool {
        !matches!(self.form(), RateForm::Slots(..))
    }

    /// Returns the rates of the 24 hours of a day, in entries per second, for schedules within a
    /// day. For other periods it is the mean over a week.
    pub fn day(&self) -> [f64; 24] {
        let days = match self.form() {
            RateForm::Slots(slots, _) if slots.period_ms() != 24 * HOUR_MS => 7,
            _ => 1,
        };
        let hour = |day: i64, h: i64| Time::from_millis((day * 24 + h) * HOUR_MS);
        let mut rates = [0.0; 24];
        for (h, rate) in (0..).zip(&mut rates) {
            let each = (0..days).map(|day| self.expect(hour(day, h), hour(day, h + 1)));
            *rate = each.sum::<f64>() / (days as f64 * 3600.0);
        }
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::periodic::Periodic;
    use crate::model::smoothing::Smoothing;
    use std::time::Duration;

    #[test]
    fn a_week_is_seen_as_its_mean_day() {
        let week = Duration::from_secs(7 * 86_400);
        let mut model = Periodic::new(84, week, Smoothing::Fixed(0.1)).unwrap();
        // Ten to noon, on one day of the week only.
        model.rates[12 + 5] = 0.07;
        let day = Model::Periodic(model).day();
        assert!((day[10] - 0.01).abs() < 1e-12 && (day[11] - 0.01).abs() < 1e-12);
        assert_eq!(day.iter().filter(|rate| **rate > 0.0).count(), 2);
    }
}
