//! The rules by which entries become visible: from an entry's date to the time at which the feed
//! shows it. [`super::visibility_lag`] chooses the rule.
//!
//! ```
//! use polling::model::tide::Visibility;
//! use polling::model::{Model, ModelKind};
//!
//! // Entries of an unknown feed are assumed to be visible at once.
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
    /// `minute` minutes after midnight UTC, and again every `period` minutes. The period divides
    /// the day.
    OnClock {
        period: u16,
        minute: u16,
    },
    /// Late without a known rule.
    Irregular,
}

impl Visibility {
    /// Returns whether the date determines the time.
    pub(super) fn is_rule(self) -> bool {
        matches!(self, Visibility::After { .. } | Visibility::OnClock { .. })
    }

    /// Returns when an entry of this date became visible, if it was found at `at` but not at
    /// `last`. `None` if the date itself is the best guess.
    pub(super) fn visible_at(self, date: Time, last: Time, at: Time) -> Option<Time> {
        match self {
            Visibility::AtOnce => None,
            Visibility::After { minutes } => Some(date.shifted(i64::from(minutes) * MINUTE_MS)),
            Visibility::OnClock { period, minute } => {
                let (period, tick) = (i64::from(period) * MINUTE_MS, i64::from(minute) * MINUTE_MS);
                // A tick is known to the minute only.
                let since = (date.millis() - tick).rem_euclid(period);
                let wait = if since < MINUTE_MS { 0 } else { period - since };
                Some(date.shifted(wait))
            }
            Visibility::Irregular => {
                // The middle of the bounds by the probability of each lag.
                let minutes = |to: Time| to.millis_since(date).max(0) as f64 / MINUTE_MS as f64;
                let middle = ((1.0 + minutes(last)) * (1.0 + minutes(at))).sqrt() - 1.0;
                Some(date.shifted((middle * MINUTE_MS as f64) as i64))
            }
        }
    }
}
