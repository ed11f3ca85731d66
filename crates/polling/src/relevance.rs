//! Reduces observations to the relevant entries, and learns the share of a feed's entries that is
//! relevant (dissertation 003, section 5.4; Horincar, Amann and Artières 2010, sel(q)).
//!
//! Any model or policy can learn from the relevant entries only: those that a query keeps or a
//! consumer reports. The caller knows which entries are relevant.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::relevance::Relevant;
//!
//! let times = [10, 20, 30].map(Time::from_secs);
//! let seen = Observation::seen(Time::from_secs(40), &times, &times[1..]);
//! let relevant = Relevant::of(&seen, &[true, false, true], &[false, true]);
//! assert_eq!(relevant.observation().window, [10, 30].map(Time::from_secs));
//! assert_eq!(relevant.observation().new, [Time::from_secs(30)]);
//! ```

use feed::{Observation, Time};

/// The relevant part of an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Relevant<'a> {
    whole: Observation<'a>,
    window: Vec<Time>,
    new: Vec<Time>,
}

impl<'a> Relevant<'a> {
    /// Reduces an observation. `in_window` and `in_new` tell for each time, in the observation's
    /// order, whether its entry is relevant. Missing values count as irrelevant.
    pub fn of(whole: &Observation<'a>, in_window: &[bool], in_new: &[bool]) -> Relevant<'a> {
        let kept = |times: &[Time], relevant: &[bool]| -> Vec<Time> {
            times.iter().zip(relevant).filter(|(_, keep)| **keep).map(|(time, _)| *time).collect()
        };
        let (window, new) = (kept(whole.window, in_window), kept(whole.new, in_new));
        Relevant { whole: *whole, window, new }
    }

    /// Returns the observation for a model or policy. Overlap and suspected miss stay those of the
    /// whole window: they tell what was lost. The late claims cannot be assigned to entries, so
    /// those entries count as undated.
    pub fn observation(&self) -> Observation<'_> {
        Observation { window: &self.window, new: &self.new, late: &[], ..self.whole }
    }
}

/// The number of entries after which an old one counts half: queries and feeds change.
const HALF_LIFE: f64 = 500.0;

/// The share of a feed's entries that any query keeps, learned from deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Selectivity {
    seen: f64,
    kept: f64,
}

impl Selectivity {
    /// Counts `n_kept` of `n_seen` new entries as kept.
    pub fn note(&mut self, n_seen: u32, n_kept: u32) {
        let fade = 0.5_f64.powf(f64::from(n_seen) / HALF_LIFE);
        self.seen = self.seen * fade + f64::from(n_seen);
        self.kept = self.kept * fade + f64::from(n_kept.min(n_seen));
    }

    /// Restores the values of [`Selectivity::parts`].
    pub const fn from_parts(seen: f64, kept: f64) -> Selectivity {
        Selectivity { seen, kept }
    }

    /// Returns the decayed counts of entries seen and kept, for the store.
    pub const fn parts(self) -> (f64, f64) {
        (self.seen, self.kept)
    }

    /// Returns sel in (0, 1]: one if nothing is known, and never zero, since the next entry may be
    /// the first relevant one. The caller sets 0 for a feed that no query reads.
    pub fn value(self) -> f64 {
        (self.kept + 1.0) / (self.seen + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectivity_follows_what_is_kept() {
        let mut selectivity = Selectivity::default();
        assert_eq!(selectivity.value(), 1.0);
        (0..100).for_each(|_| selectivity.note(10, 2));
        assert!((selectivity.value() - 0.2).abs() < 0.01);
        (0..500).for_each(|_| selectivity.note(10, 0));
        assert!(selectivity.value() < 0.01 && selectivity.value() > 0.0);
    }
}
