//! Models of feeds. A model learns from observations and predicts how many entries come in any
//! interval ahead, and the utility of a poll.
//!
//! One model, one file. An undefined model expects nothing. Rates are entries per second.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! let mut model = ModelKind::Periodic.start();
//! let hourly: Vec<Time> = (0..20).map(|h| Time::from_secs(h * 3600)).collect();
//! let at = Time::from_secs(20 * 3600);
//! model.learn(&Observation::first(at, &hourly));
//! let tomorrow = Time::from_secs(44 * 3600);
//! assert!((model.expect(at, tomorrow) - 24.0).abs() < 1e-9);
//! ```

pub mod changes;
pub mod daily_total;
mod doubt;
mod encoding;
pub mod histogram;
pub mod homogeneous;
mod kind;
pub mod offline;
pub mod periodic;
mod rate;
pub mod single_variable;
pub mod sliding_days;
mod statistics;
pub mod tide;

use std::time::Duration;

use feed::{Observation, Time};

use changes::Changes;
use daily_total::DailyTotal;
use homogeneous::Homogeneous;
pub use kind::ModelKind;
use offline::OfflineProfile;
use periodic::Periodic;
use rate::HOUR_MS;
pub(crate) use rate::RepeatingRate;
pub use rate::{HourlyRates, slots};
use single_variable::SingleVariable;
use sliding_days::SlidingDays;
use slots::Slots;
use smoothing::Smoothing;
pub use statistics::{behaviour, change_rate, pattern, profile, shape, smoothing};
use tide::TideModel;

/// A model of one feed.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    Homogeneous(Homogeneous),
    SingleVariable(SingleVariable),
    Periodic(Periodic),
    /// For windows of one entry.
    Changes(Changes),
    /// An hourly histogram that is trained daily from the last days.
    Sliding(SlidingDays, Option<HourlyRates>),
    /// Level, hours and weekdays, each shrunk towards a prior for typical feeds.
    Tide(Box<TideModel>),
    /// The total of a day, and the shares of its hours.
    DailyTotal(DailyTotal),
    /// A profile of the day that is learned, frozen, and learned again.
    Offline(Box<OfflineProfile>),
    /// Learned beforehand and not changed: `offline` in the lab, or a histogram trained on a
    /// history.
    Frozen(HourlyRates),
}

impl Model {
    pub const fn homogeneous() -> Model {
        Model::Homogeneous(Homogeneous { rate: 0.0 })
    }

    pub const fn single_variable(smoothing: Smoothing) -> Model {
        Model::SingleVariable(SingleVariable::new(smoothing))
    }

    /// Returns a periodic model with a day of 24 slots.
    pub fn daily(smoothing: Smoothing) -> Model {
        let day = Duration::from_secs(86_400);
        Periodic::new(24, day, smoothing).map_or(Model::homogeneous(), Model::Periodic)
    }

    pub fn sliding() -> Model {
        Model::Sliding(SlidingDays::default(), None)
    }

    /// Starts `single-variable` and `periodic` at zero, watched from `at` on, as source 000 does.
    /// Otherwise they start with the rate of the first window, which needs publication dates. The
    /// other models stay as they are.
    ///
    /// ```
    /// use feed::{Observation, Time};
    /// use polling::model::Model;
    /// use polling::model::smoothing::Smoothing;
    ///
    /// let at = Time::from_secs;
    /// let new = [3000, 3010, 3020].map(at);
    /// let mut model = Model::single_variable(Smoothing::Fixed(0.2)).from_zero(at(0));
    /// model.learn(&Observation::seen(at(3600), &new, &new));
    /// // λ = 0.2 · 3 an hour + 0.8 · 0, whatever dates the entries have.
    /// assert!((model.expect(at(3600), at(7200)) - 0.6).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn from_zero(mut self, at: Time) -> Model {
        match &mut self {
            Model::SingleVariable(model) => model.update(at, 0.0, Some(0.0)),
            Model::Periodic(model) => model.update(at, 0.0, Some(0.0)),
            Model::DailyTotal(model) => model.update(at, 0.0, Some(0.0)),
            _ => {}
        }
        self
    }

    /// Learns from one poll.
    pub fn learn(&mut self, o: &Observation<'_>) {
        match self {
            Model::Homogeneous(model) => model.learn(o),
            Model::SingleVariable(model) => model.learn(o),
            Model::Periodic(model) => model.learn(o),
            Model::Changes(model) => model.learn(o),
            Model::Sliding(days, rates) => {
                days.learn(o);
                *rates = days.rates();
            }
            Model::Tide(model) => model.learn(o),
            Model::DailyTotal(model) => model.learn(o),
            Model::Offline(model) => model.learn(o),
            Model::Frozen(_) => {}
        }
    }

    /// Returns the model in its current state, which later observations do not change.
    pub fn frozen(&self) -> Model {
        match self {
            Model::Homogeneous(Homogeneous { rate })
            | Model::Changes(Changes { flat: Homogeneous { rate }, .. })
            | Model::SingleVariable(SingleVariable { flat: Homogeneous { rate }, .. }) => {
                Model::Frozen(HourlyRates { hours: vec![*rate; 24], zone_secs: 0 })
            }
            Model::Periodic(p) if p.slot_ms == HOUR_MS => {
                Model::Frozen(HourlyRates { hours: p.rates.clone(), zone_secs: 0 })
            }
            Model::Periodic(p) => {
                Model::Periodic(Periodic { smoothing: Smoothing::Fixed(0.0), ..p.clone() })
            }
            Model::Sliding(_, rates) => Model::Frozen(
                rates.clone().unwrap_or(HourlyRates { hours: vec![0.0; 24], zone_secs: 0 }),
            ),
            Model::Tide(model) => Model::Frozen(model.week().clone()),
            Model::DailyTotal(model) => {
                Model::Frozen(HourlyRates { hours: model.rates.clone(), zone_secs: 0 })
            }
            Model::Offline(model) => Model::Frozen(
                model
                    .rates()
                    .cloned()
                    .unwrap_or(HourlyRates { hours: vec![0.0; 24], zone_secs: 0 }),
            ),
            Model::Frozen(rates) => Model::Frozen(rates.clone()),
        }
    }

    /// Returns the entries expected in (a, b].
    pub fn expect(&self, a: Time, b: Time) -> f64 {
        match self.form() {
            RateForm::Flat(flat) => flat.expect(a, b),
            RateForm::Slots(slots, shift) => slots.expect(a.shifted(shift), b.shifted(shift)),
            RateForm::Nothing => 0.0,
        }
    }

    /// Returns U(t0, t) in entry-seconds: the waiting that a poll at `t` would end, after one at
    /// `t0`.
    pub fn utility(&self, t0: Time, t: Time) -> f64 {
        match self.form() {
            RateForm::Flat(flat) => flat.utility(t0, t),
            RateForm::Slots(slots, shift) => slots.utility(t0.shifted(shift), t.shifted(shift)),
            RateForm::Nothing => 0.0,
        }
    }

    /// Returns the seconds after `a` until `amount` entries are expected; `None` if never.
    pub fn until_expected(&self, a: Time, amount: f64) -> Option<f64> {
        match self.form() {
            RateForm::Flat(flat) => flat.until_expected(amount),
            RateForm::Slots(slots, shift) => slots.until_expected(a.shifted(shift), amount),
            RateForm::Nothing => None,
        }
    }

    /// Returns the seconds after `a` until the utility of a poll reaches `amount`; `None` if never.
    pub fn until_utility(&self, a: Time, amount: f64) -> Option<f64> {
        match self.form() {
            RateForm::Flat(flat) => flat.until_utility(amount),
            RateForm::Slots(slots, shift) => slots.until_utility(a.shifted(shift), amount),
            RateForm::Nothing => None,
        }
    }

    fn form(&self) -> RateForm<'_> {
        match self {
            Model::Homogeneous(flat) => RateForm::Flat(*flat),
            Model::SingleVariable(model) => RateForm::Flat(model.flat),
            Model::Changes(model) => RateForm::Flat(model.flat),
            Model::Periodic(model) => RateForm::Slots(model.slots(), 0),
            Model::Tide(model) => RateForm::Slots(model.slots(), 0),
            Model::DailyTotal(model) => RateForm::Slots(model.slots(), 0),
            Model::Offline(model) => match model.rates() {
                Some(rates) => RateForm::Slots(rates.slots(), 0),
                None => RateForm::Nothing,
            },
            Model::Sliding(_, Some(rates)) | Model::Frozen(rates) => {
                let shift = rates.local(Time::from_millis(0)).millis();
                RateForm::Slots(rates.slots(), shift)
            }
            Model::Sliding(_, None) => RateForm::Nothing,
        }
    }
}

/// The form of a model's rate.
enum RateForm<'a> {
    Flat(Homogeneous),
    /// Slots, and the milliseconds by which times are shifted into their zone.
    Slots(Slots<'a>, i64),
    Nothing,
}
