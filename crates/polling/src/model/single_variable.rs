//! The single-variable model: one rate, smoothed exponentially (Horincar, Amann and Artières 2012,
//! section 4.1; source 000).
//!
//! Div_est(T) = (T − T_r)·λ_r; after a poll that found x entries
//! λ_{r+1} = a·x/(T_{r+1} − T_r) + (1 − a)·λ_r.
//!
//! ```
//! use polling::model::single_variable::smoothed;
//! // Two entries within one second, a = 0.1, from rate 0.
//! assert_eq!(smoothed(0.0, 0.1, 2.0, 1.0), 0.2);
//! ```

use feed::{Observation, Time};

use super::homogeneous::{Homogeneous, rate_of_window};
use super::smoothing::Smoothing;

/// Returns the rate after a poll that found `x` entries `secs` seconds after the one before.
pub fn smoothed(rate: f64, a: f64, x: f64, secs: f64) -> f64 {
    a * x / secs + (1.0 - a) * rate
}

/// One smoothed rate. It starts with that of the first window, which is our choice. The paper
/// starts at zero ([`Model::from_zero`](super::Model::from_zero)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleVariable {
    pub smoothing: Smoothing,
    pub flat: Homogeneous,
    pub last: Option<Time>,
}

impl SingleVariable {
    pub const fn new(smoothing: Smoothing) -> SingleVariable {
        SingleVariable { smoothing, flat: Homogeneous { rate: 0.0 }, last: None }
    }

    pub fn learn(&mut self, o: &Observation<'_>) {
        if o.outcome.is_success() {
            self.update(o.at, o.new.len() as f64, rate_of_window(o.at, o.window));
        }
    }

    /// Learns that `x` entries were new at `at`; `first` is the initial rate.
    pub fn update(&mut self, at: Time, x: f64, first: Option<f64>) {
        match self.last {
            None => self.flat.rate = first.unwrap_or(0.0),
            // The clock was set back: nothing was watched, and the next interval begins here.
            Some(last) if at <= last => {}
            Some(last) => {
                self.smoothing.note(x - self.flat.expect(last, at));
                let secs = at.since(last).as_secs_f64();
                self.flat.rate = smoothed(self.flat.rate, self.smoothing.value(), x, secs);
            }
        }
        self.last = Some(at);
    }
}
