//! Describes when a feed posts, for people: its busiest hours, and whether weekends are quiet.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! // Every day at ten, for forty days.
//! let policy: Policy = "tide".parse().unwrap();
//! let daily: Vec<Time> = (0..40).map(|d| Time::from_secs(d * 86_400 + 36_000)).collect();
//! let seen = Observation::first(Time::from_secs(40 * 86_400), &daily);
//! let mut learned = policy.start();
//! policy.learn(&mut learned, &seen);
//! let why = policy.wish(&learned, &seen, &Bounds::EVALUATION).why.words();
//! assert!(why.contains("posts mostly"), "{why}");
//! ```

use super::TideModel;
use super::day_shapes;
use super::rhythm::{Factors, WeeklyRhythm};
use super::visibility::Visibility;

/// The hours (UTC, the second one excluded) and days of most entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostingTimes {
    pub hours: Option<(u8, u8)>,
    pub days: BusyDays,
    /// How soon after their date entries become visible.
    pub visibility: Visibility,
}

impl PostingTimes {
    pub(crate) const UNKNOWN: PostingTimes =
        PostingTimes { hours: None, days: BusyDays::All, visibility: Visibility::AtOnce };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusyDays {
    All,
    MondayToFriday,
}

impl TideModel {
    /// Returns the hours and days of most entries, if there are such, and the visibility lag.
    pub fn posting_times(&self) -> PostingTimes {
        PostingTimes {
            visibility: self.lag.visibility,
            ..self.rhythm.posting_times(self.dst.ahead)
        }
    }
}

impl WeeklyRhythm {
    /// Finds the shortest run of hours with three quarters of a day's entries, if it is at most
    /// half a day. Also tells whether weekends are much quieter.
    fn posting_times(&self, ahead: usize) -> PostingTimes {
        let Factors { hours, days } = &self.factors;
        let mut sums = [0.0; 49];
        for hour in 0..48 {
            sums[hour + 1] = sums[hour] + hours[(hour + ahead) % 24];
        }
        let busiest = |n: usize| {
            let stretches = (0..24).map(|from| (from, sums[from + n] - sums[from]));
            let busier = |a: (usize, f64), b: (usize, f64)| if b.1 > a.1 { b } else { a };
            stretches.fold((0, 0.0), busier)
        };
        let (mut few, mut enough) = (0_usize, 12_usize);
        let mut stretch = None;
        while few < enough {
            let n = (few + enough).div_ceil(2);
            let (from, most) = busiest(n);
            if most >= 0.75 * 24.0 {
                stretch = Some((from as u8, ((from + n) % 24) as u8));
                enough = n - 1;
            } else {
                few = n;
            }
        }
        let weekend = days[day_shapes::SATURDAY] + days[day_shapes::SATURDAY + 1];
        let days = if weekend < 0.7 { BusyDays::MondayToFriday } else { BusyDays::All };
        PostingTimes { hours: stretch, days, ..PostingTimes::UNKNOWN }
    }
}
