//! The initial state of a policy: empty, or trained on a known history.
//!
//! In the lab the policies that need training are trained on the time before the run. Live they
//! learn daily from observations. A policy without training starts the same way in both.
//!
//! ```
//! use feed::Time;
//! use polling::{Policy, policy::Training};
//!
//! let (start, end) = (Time::from_secs(0), Time::from_secs(7 * 86_400));
//! let history = [Time::from_secs(3600)];
//! let training = Training { history: &history, start, end, zone_secs: 0 };
//! let policy: Policy = "indhist:0.7".parse().unwrap();
//! assert_eq!(policy.train(&training).hours().unwrap()[1], 1);
//! assert_eq!(policy.start().hours(), None);
//! ```

use feed::Time;

use super::indhist::Hourly;
use super::{
    Policy, adaptive_fetch, advarss, advarss_hybrid, entry_frequency, fix_learned, indhist_agg,
    indhist_ttl, lihz, lru_2,
};
use crate::Learned;
use crate::model::histogram::{Histogram, Period};
use crate::model::sliding_days::SlidingDays;
use crate::model::{Model, ModelKind};
use crate::policy::learned::PolicyState;

/// The training data of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Training<'a> {
    /// Publication times of the feed, oldest first; those from `end` on are ignored.
    pub history: &'a [Time],
    /// The training phase. Histograms use all of the history before `end`, even before `start`;
    /// `lihz` polls daily from `start` on.
    pub start: Time,
    pub end: Time,
    /// The time zone of hours and weekdays, in seconds east of UTC.
    pub zone_secs: i32,
}

impl Policy {
    /// Returns the state for a feed that was never polled.
    pub fn start(&self) -> Learned {
        let daily = |period| Hourly::Daily(SlidingDays::default(), period);
        self.with_hourly(daily, lihz::WeekdayCounts::new)
    }

    /// Returns the state for a feed with a known history. Policies without training start fresh.
    pub fn train(&self, training: &Training<'_>) -> Learned {
        let Training { history, end, zone_secs, .. } = *training;
        let trained = |period| Hourly::Trained(Histogram::train(history, end, period, zone_secs));
        self.with_hourly(trained, || lihz::WeekdayCounts::train(training))
    }

    /// Returns the state for a feed whose own polls are the training, from `start` on. Only `lihz`
    /// has training polls of its own; for all others this is [`train`](Policy::train).
    pub fn train_by_polling(&self, training: &Training<'_>) -> Learned {
        match self {
            Policy::Lihz { .. } => {
                let week = lihz::WeekdayCounts::in_training(training.end, training.zone_secs);
                Learned::new(PolicyState::Lihz(week))
            }
            _ => self.train(training),
        }
    }

    /// Returns the state for a feed with a known model, if the policy uses one.
    pub fn start_on(&self, model: Model) -> Learned {
        match self {
            Policy::Tide { .. } | Policy::Window { .. } => {
                Learned::new(PolicyState::Model(Box::new(model)))
            }
            _ => self.start(),
        }
    }

    /// Returns whether training makes a difference.
    pub const fn is_trained(&self) -> bool {
        matches!(
            self,
            Policy::IndHist { .. }
                | Policy::IndHistTtl { .. }
                | Policy::IndHistAgg { .. }
                | Policy::Lihz { .. }
        )
    }

    fn with_hourly(
        &self,
        hourly: impl Fn(Period) -> Hourly,
        weekdays: impl FnOnce() -> lihz::WeekdayCounts,
    ) -> Learned {
        Learned::new(match self {
            Policy::Fix { .. }
            | Policy::AdaptiveTtl { .. }
            | Policy::MavSync { .. }
            | Policy::Empirical
            | Policy::Recording => PolicyState::Nothing,
            Policy::FixLearnedW => PolicyState::FixLearnedW(fix_learned::FirstWindow::NotSeen),
            Policy::FixLearnedA => PolicyState::FixLearnedA(fix_learned::FirstWindow::NotSeen),
            Policy::Lru2 => PolicyState::Lru2(lru_2::Newest::default()),
            Policy::IndHist { period, .. } => PolicyState::IndHist(hourly(*period), *period),
            Policy::IndHistTtl { span, .. } => PolicyState::IndHistTtl(Box::new(
                indhist_ttl::IndHistTtlState::new(hourly(Period::Day), *span),
            )),
            Policy::IndHistAgg { .. } => {
                PolicyState::IndHistAgg(Box::new(indhist_agg::IndHistAggState {
                    hourly: hourly(Period::Day),
                    profile: None,
                }))
            }
            Policy::Lihz { .. } => PolicyState::Lihz(weekdays()),
            Policy::AdvaRss { .. } => PolicyState::AdvaRss(Box::new(advarss::AdvaRssState::new())),
            Policy::AdvaRssHybrid => {
                PolicyState::AdvaRssHybrid(Box::new(advarss_hybrid::AdvaRssHybridState::new()))
            }
            Policy::Window { model, .. } => PolicyState::Model(Box::new(model.start())),
            Policy::Tide { .. } => PolicyState::Model(Box::new(ModelKind::Tide.start())),
            Policy::EntryFrequency { .. } => PolicyState::EntryFrequency(entry_frequency::start()),
            Policy::AdaptiveFetch => PolicyState::AdaptiveFetch(adaptive_fetch::Interval::start()),
        })
    }
}
