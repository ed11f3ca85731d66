//! How a feed shows its entries, as a rule from an entry's date to the moment at which it became
//! visible. Which rule holds is weighed elsewhere ([`super::visibility_lag`]).
//!
//! ```
//! use polling::model::tide::Visibility;
//! use polling::model::{Model, ModelKind};
//!
//! // Of a feed nobody knows entries are visible when they say so.
//! let Model::Tide(tide) = ModelKind::Tide.start() else { panic!("another model") };
//! assert_eq!(tide.posting_times().visibility, Visibility::AtOnce);
//! ```

use feed::Time;

const MINUTE_MS: i64 = 60_000;

/// How entries become visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    #[default]
    AtOnce,
    After {
        minutes: u8,
    },
    /// So many minutes after midnight, UTC, and again every `period` minutes, which divide the day.
    OnClock {
        period: u16,
        minute: u16,
    },
    /// Late by no rule that we know.
    Irregular,
}

impl Visibility {
    /// Whether a date tells the moment.
    pub(super) fn is_rule(self) -> bool {
        matches!(self, Visibility::After { .. } | Visibility::OnClock { .. })
    }

    /// When an entry of this date became visible, that was found at `at` and not at `last`, by the
    /// rule; `None` where its date is as good.
    pub(super) fn moment(self, date: Time, last: Time, at: Time) -> Option<Time> {
        match self {
            Visibility::AtOnce => None,
            Visibility::After { minutes } => Some(date.shifted(i64::from(minutes) * MINUTE_MS)),
            Visibility::OnClock { period, minute } => {
                let (period, tick) = (i64::from(period) * MINUTE_MS, i64::from(minute) * MINUTE_MS);
                // Within the minute of the tick, that is not known more exactly.
                let since = (date.millis() - tick).rem_euclid(period);
                let wait = if since < MINUTE_MS { 0 } else { period - since };
                Some(date.shifted(wait))
            }
            Visibility::Irregular => {
                // The middle of the bounds, by how likely each lateness is.
                let minutes = |to: Time| to.millis_since(date).max(0) as f64 / MINUTE_MS as f64;
                let middle = ((1.0 + minutes(last)) * (1.0 + minutes(at))).sqrt() - 1.0;
                Some(date.shifted((middle * MINUTE_MS as f64) as i64))
            }
        }
    }
}
