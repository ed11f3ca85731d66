//! Cold start: learns from the first window of a feed, which often covers years. It takes the dates
//! as they are, since a visibility lag shows only at the second poll. A window without dates tells
//! only how many entries fit.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! let at = Time::from_secs(1_000_000);
//! let first = |window: &[Time]| {
//!     let mut model = ModelKind::Tide.start();
//!     model.learn(&Observation::first(at, window));
//!     model.mean_rate() * 86_400.0
//! };
//! // Twenty entries without a date may be those of a day or of ten years.
//! assert_eq!(first(&[at; 20]), first(&[]));
//! let hourly: Vec<Time> = (1..=20).rev().map(|h| at.shifted(-h * 3_600_000)).collect();
//! assert!(first(&hourly) > 20.0);
//! ```

use feed::Time;

use super::TideModel;
use super::level::RateLevel;
use super::new_entries::NewEntries;
use super::rhythm::WeeklyRhythm;

impl TideModel {
    /// Treats the feed as watched since its oldest entry. That entry itself does not count: it says
    /// nothing about the rate.
    pub(super) fn learn_first_window(&mut self, oldest: Time, rest: &[Time], at: Time) {
        let secs = at.since(oldest).as_secs_f64();
        // Learn the rhythm of the window first, so that the level accounts for the hours that it
        // covers.
        let rate = RateLevel::of(rest.len() as f64, secs);
        let mut rhythm = WeeklyRhythm::default();
        rhythm.watch(oldest, at, rate);
        rest.iter().filter(|t| **t < at).for_each(|t| rhythm.count_entry(*t));
        rhythm.recompute();
        self.rhythm = WeeklyRhythm { factors: rhythm.factors, ..WeeklyRhythm::default() };
        self.learn_interval(oldest, &NewEntries::new(rest, &[], at), at, false, rate);
    }
}
