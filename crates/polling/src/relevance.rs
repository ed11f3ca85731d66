//! Only what somebody wants: observations reduced to the relevant entries, and the share of a
//! feed's entries that is wanted (dissertation 003, section 5.4; Horincar, Amann and Artières 2010,
//! sel(q)).
//!
//! Any model or policy can learn from the relevant entries only, those a query keeps or a consumer
//! reports as relevant: it is given the reduced observation. Which entries are relevant is the
//! caller's knowledge.
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

/// An observation's relevant part.
#[derive(Clone, Debug, PartialEq)]
pub struct Relevant<'a> {
    whole: Observation<'a>,
    window: Vec<Time>,
    new: Vec<Time>,
}

impl<'a> Relevant<'a> {
    /// `in_window` and `in_new` say of each time, in the observation's order, whether its entry is
    /// relevant; where they are too short the rest is not.
    pub fn of(whole: &Observation<'a>, in_window: &[bool], in_new: &[bool]) -> Relevant<'a> {
        let kept = |times: &[Time], relevant: &[bool]| -> Vec<Time> {
            times.iter().zip(relevant).filter(|(_, keep)| **keep).map(|(time, _)| *time).collect()
        };
        let (window, new) = (kept(whole.window, in_window), kept(whole.new, in_new));
        Relevant { whole: *whole, window, new }
    }

    /// What a model or policy learns from. Overlap and suspected miss stay those of the whole
    /// window: they say what was lost, not what was wanted. Whose claims the late ones are is not
    /// known, so they count as undated.
    pub fn observation(&self) -> Observation<'_> {
        Observation { window: &self.window, new: &self.new, late: &[], ..self.whole }
    }
}

/// After so many entries an old one counts half: queries and feeds change.
const HALF_LIFE: f64 = 500.0;

/// The share of a feed's entries that any query keeps, learned from deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Selectivity {
    seen: f64,
    kept: f64,
}

impl Selectivity {
    /// Takes in that of `n_seen` new entries `n_kept` were kept.
    pub fn note(&mut self, n_seen: u32, n_kept: u32) {
        let fade = 0.5_f64.powf(f64::from(n_seen) / HALF_LIFE);
        self.seen = self.seen * fade + f64::from(n_seen);
        self.kept = self.kept * fade + f64::from(n_kept.min(n_seen));
    }

    /// What [`Selectivity::parts`] answered, taken back.
    pub const fn from_parts(seen: f64, kept: f64) -> Selectivity {
        Selectivity { seen, kept }
    }

    /// Entries seen and entries kept, as far as they still count: what must be stored.
    pub const fn parts(self) -> (f64, f64) {
        (self.seen, self.kept)
    }

    /// sel in (0, 1]: one where nothing is known, and never quite nothing, since the next entry may
    /// be the first one wanted. A feed that no query reads is set to 0 by whoever knows that.
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
