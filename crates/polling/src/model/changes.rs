//! The model of a feed that shows only its latest entry. Entries between two polls are hidden, so
//! the rate is estimated from whether each poll saw a change (dissertation 003, section 2.4.3).
//!
//! It uses the maximum-likelihood rate over the last intervals ([`likeliest`]). If all of them saw
//! a change there is no maximum, and the improved estimator at their mean length applies
//! ([`improved`]).
//!
//! ```
//! use feed::Time;
//! use polling::model::changes::Changes;
//!
//! let mut model = Changes::default();
//! for hour in 0..=8 {
//!     model.update(Time::from_secs(hour * 3600), hour % 2 == 0);
//! }
//! // Half of the hourly polls saw a change: e^λ = 2, not one every two hours.
//! assert!((model.flat.rate * 3600.0 - std::f64::consts::LN_2).abs() < 1e-9);
//! ```

use std::collections::VecDeque;

use feed::{Observation, Time};

use super::change_rate::{improved, likeliest};
use super::homogeneous::Homogeneous;

/// The number of intervals that count; a feed changes over longer times.
pub const KEPT: usize = 32;

/// The last intervals between polls, in seconds, each with whether its poll saw a change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    pub intervals: VecDeque<(f64, bool)>,
    pub flat: Homogeneous,
    pub last: Option<Time>,
}

impl Changes {
    pub fn learn(&mut self, o: &Observation<'_>) {
        if o.outcome.is_success() {
            self.update(o.at, !o.new.is_empty());
        }
    }

    /// Learns whether the poll at `at` saw a change. The first poll only sets the start.
    pub fn update(&mut self, at: Time, changed: bool) {
        if let Some(last) = self.last.replace(at) {
            // The clock was set back: nothing was watched, and the next interval begins here.
            if at <= last {
                return;
            }
            if self.intervals.len() == KEPT {
                self.intervals.pop_front();
            }
            self.intervals.push_back((at.since(last).as_secs_f64(), changed));
            self.flat.rate = rate(self.intervals.make_contiguous());
        }
    }
}

fn rate(intervals: &[(f64, bool)]) -> f64 {
    let n = intervals.len() as u32;
    let total: f64 = intervals.iter().map(|(secs, _)| secs).sum();
    likeliest(intervals).unwrap_or_else(|| improved(n, n, f64::from(n) / total))
}
