//! The periodic model: a period of n slots, each with its own smoothed rate (Horincar, Amann and
//! Artières 2012, section 4.2; source 000).
//!
//! Div_est sums the slot rates over the partial slots covered. After a poll that found x entries
//! every slot j touched by (T_r, T_{r+1}] becomes λ_j ← a·(λ_j/Div_est)·x + (1 − a)·λ_j; the others
//! stay. Shares use max(λ_j, ε), so that a rate of zero can rise again. A slot covered twice is
//! updated once; a slot that starts exactly at T is not covered.
//!
//! ```
//! use feed::Time;
//! use polling::model::{periodic::Periodic, smoothing::Smoothing};
//! use std::time::Duration;
//!
//! let mut day = Periodic::new(24, Duration::from_secs(86_400), Smoothing::Fixed(0.2)).unwrap();
//! day.update(Time::from_secs(0), 0.0, Some(0.0));
//! day.update(Time::from_secs(7200), 4.0, None);
//! assert!(day.expect(Time::from_secs(0), Time::from_secs(3600)) > 0.0);
//! assert_eq!(day.expect(Time::from_secs(7200), Time::from_secs(10_800)), 0.0);
//! ```

use std::time::Duration;

use feed::{Observation, Time};

use super::homogeneous::rate_of_window;
use super::slots::Slots;
use super::smoothing::Smoothing;

/// The most slots that fit the kilobyte of a feed's state: a week in slots of two hours fits.
pub const SLOTS_MAX: usize = 112;
/// The longest period: a year.
pub(super) const PERIOD_MS_MAX: i64 = 366 * 86_400_000;
/// ε: a thousandth of an entry per hour, in entries per second.
pub const FLOOR: f64 = 0.001 / 3600.0;

/// Smoothed rates, one per slot of the period. They start with the rate of the first window, which
/// is our choice. The paper starts at zero ([`Model::from_zero`](super::Model::from_zero)).
#[derive(Clone, Debug, PartialEq)]
pub struct Periodic {
    pub smoothing: Smoothing,
    /// Entries per second.
    pub rates: Vec<f64>,
    pub slot_ms: i64,
    pub last: Option<Time>,
}

impl Periodic {
    /// Returns `None` for no slots, too many slots, slots that are not whole milliseconds, or a
    /// period longer than a year.
    pub fn new(n_slots: usize, period: Duration, smoothing: Smoothing) -> Option<Periodic> {
        let period_ms = i64::try_from(period.as_millis()).ok()?;
        let n = i64::try_from(n_slots).ok().filter(|_| (1..=SLOTS_MAX).contains(&n_slots))?;
        if !(1..=PERIOD_MS_MAX).contains(&period_ms) || period_ms % n != 0 {
            return None;
        }
        Some(Periodic { smoothing, rates: vec![0.0; n_slots], slot_ms: period_ms / n, last: None })
    }

    pub fn slots(&self) -> Slots<'_> {
        Slots { rates: &self.rates, slot_ms: self.slot_ms }
    }

    pub fn expect(&self, a: Time, b: Time) -> f64 {
        self.slots().expect(a, b)
    }

    pub fn learn(&mut self, o: &Observation<'_>) {
        if o.outcome.is_success() {
            self.update(o.at, o.new.len() as f64, rate_of_window(o.at, o.window));
        }
    }

    /// Learns that `x` entries were new at `at`; `first` is the initial rate of all slots.
    pub fn update(&mut self, at: Time, x: f64, first: Option<f64>) {
        match self.last {
            None => {
                let first = first.unwrap_or(0.0);
                self.rates.iter_mut().for_each(|rate| *rate = first);
            }
            // The clock was set back: nothing was watched, and the next interval begins here.
            Some(last) if at <= last => {}
            Some(last) => {
                self.smoothing.note(x - self.expect(last, at));
                self.share_out(last, at, x);
            }
        }
        self.last = Some(at);
    }

    fn share_out(&mut self, last: Time, at: Time, x: f64) {
        let floored: Vec<f64> = self.rates.iter().map(|rate| rate.max(FLOOR)).collect();
        let floor = Slots { rates: &floored, slot_ms: self.slot_ms };
        let expected = floor.expect(last, at);
        let a = self.smoothing.value();
        let n = self.rates.len() as i64;
        let first = last.millis().div_euclid(self.slot_ms);
        let end = (at.millis() - 1).div_euclid(self.slot_ms);
        for slot in first..=end.min(first + n - 1) {
            let j = slot.rem_euclid(n) as usize;
            self.rates[j] = a * (floored[j] / expected) * x + (1.0 - a) * self.rates[j];
        }
    }
}
