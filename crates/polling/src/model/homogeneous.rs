//! The homogeneous model: one rate, that of the window itself.
//!
//! λ = |W| / (τ − t_start): the window's entries over the time since its oldest (dissertation 003,
//! eq. 4.6 inverted). The rate is its only state.
//!
//! ```
//! use feed::Time;
//! use polling::model::homogeneous::rate_of_window;
//!
//! let hourly = [0, 3600].map(Time::from_secs);
//! assert_eq!(rate_of_window(Time::from_secs(7200), &hourly), Some(1.0 / 3600.0));
//! ```

use feed::{Observation, Time};

/// Returns a window's entries per second; `None` if all lie at or after the poll.
pub fn rate_of_window(at: Time, window: &[Time]) -> Option<f64> {
    let age_ms = at.millis_since(*window.first()?);
    (age_ms > 0).then(|| window.len() as f64 * 1000.0 / age_ms as f64)
}

/// One rate for all times, in entries per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Homogeneous {
    pub rate: f64,
}

impl Homogeneous {
    pub fn learn(&mut self, o: &Observation<'_>) {
        if let (true, Some(rate)) = (o.outcome.is_success(), rate_of_window(o.at, o.window)) {
            self.rate = rate;
        }
    }

    pub fn expect(&self, a: Time, b: Time) -> f64 {
        self.rate * b.since(a).as_secs_f64()
    }

    /// U(a, b) = λ·(b − a)²/2, in entry-seconds.
    pub fn utility(&self, a: Time, b: Time) -> f64 {
        let secs = b.since(a).as_secs_f64();
        self.rate * secs * secs / 2.0
    }

    pub fn until_expected(&self, amount: f64) -> Option<f64> {
        (self.rate > 0.0).then(|| amount.max(0.0) / self.rate)
    }

    pub fn until_utility(&self, amount: f64) -> Option<f64> {
        (self.rate > 0.0).then(|| (2.0 * amount.max(0.0) / self.rate).sqrt())
    }
}
