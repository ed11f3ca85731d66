//! How little is known about a feed's rate or hours: the relative variance, for learning polls.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! let mut model = ModelKind::Tide.start();
//! assert_eq!(model.doubt(), 1.0);
//! let hourly: Vec<Time> = (0..40).map(|h| Time::from_secs(h * 3600)).collect();
//! model.learn(&Observation::first(Time::from_secs(40 * 3600), &hourly));
//! assert!(model.doubt() < 0.05);
//! ```

use super::Model;
use super::smoothing::Smoothing;

impl Model {
    /// Returns the relative variance of the rate, from 0 (known) to 1 (unknown).
    ///
    /// A rate that rests on n entries has 1/n (Gamma and Poisson). If the hours of a feed rest on
    /// fewer entries, because they changed, those count. The paper's smoothed models keep
    /// no counts: a weight a of the newest poll leaves a/(2 − a) of the variance of one poll. A
    /// rate that cannot be learned, or that follows the window anyway, has 0.
    pub fn doubt(&self) -> f64 {
        let smoothed = |smoothing: Smoothing| match smoothing {
            Smoothing::Adjusting { error_abs, .. } if error_abs <= 0.0 => 1.0,
            smoothing => smoothing.value() / (2.0 - smoothing.value()),
        };
        let doubt = match self {
            Model::Homogeneous(_) | Model::Frozen(_) => 0.0,
            Model::SingleVariable(model) => smoothed(model.smoothing),
            Model::Periodic(model) => smoothed(model.smoothing),
            Model::DailyTotal(model) => smoothed(model.smoothing),
            Model::Changes(model) => 1.0 / (1.0 + model.intervals.len() as f64),
            Model::Sliding(days, _) => 1.0 / (1.0 + days.n_entries()),
            Model::Tide(model) => 1.0 / model.n_effective().min(model.n_hours()).max(1.0),
            Model::Offline(model) if model.is_frozen() => 0.0,
            Model::Offline(model) => 1.0 / (1.0 + model.n_entries()),
        };
        doubt.clamp(0.0, 1.0)
    }

    /// Returns whether the hours of the feed are in doubt more than its rate.
    pub fn doubts_hours(&self) -> bool {
        matches!(self, Model::Tide(model) if model.n_hours() < model.n_effective())
    }
}

#[cfg(test)]
mod tests {
    use crate::model::ModelKind;
    use feed::{Observation, Time};

    #[test]
    fn hours_that_change_raise_the_doubt_about_a_feed_that_was_known() {
        let mut model = ModelKind::Tide.start();
        let mut learn = |days: std::ops::Range<i64>, hour: i64| {
            for day in days {
                let at = |secs: i64| Time::from_secs(day * 86_400 + secs);
                let new: Vec<Time> = (0..12).map(|i| at(hour * 3600 + 300 * i)).collect();
                model.learn(&Observation::seen(at(86_399), &new, &new));
            }
            (model.doubt(), model.doubts_hours())
        };
        let (known, by_hours) = learn(0..60, 9);
        assert!(known < 0.02 && !by_hours, "{known}");
        let (moved, by_hours) = learn(60..64, 21);
        assert!(moved > 3.0 * known && by_hours, "{moved} {known}");
    }
}
