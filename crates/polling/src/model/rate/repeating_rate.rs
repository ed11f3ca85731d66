//! A model's rate for the lookahead: slots that repeat, and the minutes at which timers post.
//!
//! ```
//! use feed::Time;
//! use polling::model::{Model, HourlyRates};
//!
//! // Hours that repeat: tomorrow is as today.
//! let hours = (0..24).map(f64::from).collect();
//! let model = Model::Frozen(HourlyRates { hours, zone_secs: 0 });
//! let hour = |h: i64| model.expect(Time::from_secs(h * 3600), Time::from_secs((h + 1) * 3600));
//! assert_eq!(hour(5), hour(29));
//! assert_eq!(hour(6), 6.0 * hour(1));
//! ```

use std::sync::LazyLock;

use feed::Time;

use super::HOUR_MS;
use super::slots::Slots;
use crate::model::Model;
use crate::model::tide::Minutes;
#[cfg(feature = "tuning")]
use crate::model::tide::TideModel;

/// Minutes that are all alike.
static EVEN: LazyLock<Minutes> = LazyLock::new(Minutes::even);

/// Rates in slots that repeat, with the activity within an hour.
#[derive(Clone, Copy)]
pub(crate) struct RepeatingRate<'a> {
    /// Entries per second; at least one slot.
    pub(crate) rates: &'a [f64],
    pub(crate) slot_ms: i64,
    /// The shift of times into the slots' zone.
    pub(crate) shift_ms: i64,
    /// If the minutes are uneven, slots are hours.
    pub(crate) minutes: &'a Minutes,
    /// The model whose recent activity corrects the rates; for experiments only.
    #[cfg(feature = "tuning")]
    pub(crate) corrected: Option<&'a TideModel>,
}

impl Model {
    /// Returns `None` before anything was learned.
    pub(crate) fn repeating_rate(&self) -> Option<RepeatingRate<'_>> {
        let flat = |rate| Slots { rates: std::slice::from_ref(rate), slot_ms: HOUR_MS };
        let (slots, shift_ms, minutes) = match self {
            Model::Homogeneous(model) => (flat(&model.rate), 0, &*EVEN),
            Model::SingleVariable(model) => (flat(&model.flat.rate), 0, &*EVEN),
            Model::Changes(model) => (flat(&model.flat.rate), 0, &*EVEN),
            Model::Periodic(model) => (model.slots(), 0, &*EVEN),
            Model::Tide(model) => (model.slots(), 0, model.minutes()),
            Model::DailyTotal(model) => (model.slots(), 0, &*EVEN),
            Model::Offline(model) => (model.rates()?.slots(), 0, &*EVEN),
            Model::Sliding(_, Some(rates)) | Model::Frozen(rates) => {
                (rates.slots(), rates.local(Time::from_millis(0)).millis(), &*EVEN)
            }
            Model::Sliding(_, None) => return None,
        };
        let Slots { rates, slot_ms } = slots;
        #[cfg(feature = "tuning")]
        let corrected = match self {
            Model::Tide(model) => Some(&**model),
            _ => None,
        };
        (!rates.is_empty()).then_some(RepeatingRate {
            rates,
            slot_ms,
            shift_ms,
            minutes,
            #[cfg(feature = "tuning")]
            corrected,
        })
    }
}
