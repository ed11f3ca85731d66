//! Learns how fast a feed fills its window. It keeps, for the entries of three months, the share
//! that completed a whole window within minutes or hours. A poll interval longer than that loses
//! entries. It does not learn a rate.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! // Twenty entries in thirty hours, and no more are shown: a minute apart, or 36 minutes.
//! let policy: Policy = "tide:6h".parse().unwrap();
//! let wait_mins = |apart_secs: i64| {
//!     let (mut learned, mut wait) = (policy.start(), 0);
//!     for n in 1..=48 {
//!         let at = Time::from_secs(n * 108_000);
//!         let window: Vec<Time> =
//!             (1..=20).rev().map(|k| at.shifted(-k * apart_secs * 1000)).collect();
//!         let seen = Observation::first(at, &window);
//!         policy.learn(&mut learned, &seen);
//!         wait = policy.wish(&learned, &seen, &Bounds::EVALUATION).at.since(at).as_secs() / 60;
//!     }
//!     wait
//! };
//! assert!(wait_mins(60) < wait_mins(2160) / 2);
//! ```

use feed::Observation;

use super::TideModel;
use super::rhythm::WeeklyRhythm;

/// Bursts are classified by duration: up to 10, 20, 40, 80 and 160 minutes. The rate covers slower
/// ones.
pub(super) const KINDS: usize = 5;
/// A window that fills faster is lost at any poll interval.
const SHORTEST_SECS: f64 = 300.0;
/// The weight, in entries, of the prior that there are no bursts.
const NO_BURST_WEIGHT: f64 = 5.0;
/// A feed that has shown fewer entries may have room for more: few publishers show fewer than five.
pub(crate) const WINDOW_MIN: u32 = 5;

/// Entries seen, and those among them that completed a full window, by duration. Both decay like
/// the rhythm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bursts {
    pub(super) entries: f32,
    pub(super) filled: [f32; KINDS],
}

impl Bursts {
    /// Learns from a poll of a feed that shows up to `window_max` entries.
    pub(super) fn learn(&mut self, o: &Observation<'_>, window_max: u32) {
        let n_new = o.new.len() as f32;
        self.entries += n_new;
        let (Some(oldest), Some(newest)) = (o.window.first(), o.window.last()) else { return };
        // Undated entries do not show how fast they came.
        if o.partial || *newest >= o.at || o.window.len() < window_max.max(WINDOW_MIN) as usize {
            return;
        }
        let doublings = (newest.since(*oldest).as_secs_f64() / SHORTEST_SECS).log2().floor();
        if (0.0..KINDS as f64).contains(&doublings) {
            self.filled[doublings as usize] += n_new;
        }
    }

    /// Decays the counts over `secs`.
    pub(super) fn decay(&mut self, secs: f64) {
        let kept = WeeklyRhythm::retention(secs) as f32;
        self.entries *= kept;
        self.filled.iter_mut().for_each(|entries| *entries *= kept);
    }

    /// Returns each duration, the shortest first, with the share of entries that filled a window
    /// within it.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (f64, f64)> {
        let entries = f64::from(self.entries) + NO_BURST_WEIGHT;
        let secs = std::iter::successors(Some(SHORTEST_SECS), |secs| Some(2.0 * secs));
        secs.zip(self.filled.map(|filled| f64::from(filled) / entries))
    }
}

impl TideModel {
    pub(super) fn learn_burst(&mut self, o: &Observation<'_>) {
        if let Some(last) = self.last {
            self.bursts.decay(o.at.since(last).as_secs_f64());
        }
        self.bursts.learn(o, self.window_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feed::Time;

    fn looked(bursts: &mut Bursts, at_secs: i64, window: &[i64], n_new: usize, partial: bool) {
        let window: Vec<Time> = window.iter().map(|t| Time::from_secs(*t)).collect();
        bursts.learn(
            &Observation {
                partial,
                ..Observation::seen(
                    Time::from_secs(at_secs),
                    &window,
                    &window[window.len() - n_new..],
                )
            },
            5,
        );
    }

    #[test]
    fn full_windows_count_by_the_time_they_took() {
        let mut bursts = Bursts::default();
        looked(&mut bursts, 9_000, &[0, 100, 200, 300, 1_200], 3, false);
        assert_eq!((bursts.entries, bursts.filled), (3.0, [0.0, 0.0, 3.0, 0.0, 0.0]));
        // Not a burst: all at once, over three hours, window not full, partial document, or
        // undated.
        for window in [[0, 1, 2, 3, 4], [0, 1, 2, 3, 9_600], [0, 1, 2, 3, 90_000]] {
            looked(&mut bursts, 90_000, &window, 5, false);
        }
        looked(&mut bursts, 90_000, &[0, 600, 700], 3, false);
        looked(&mut bursts, 90_000, &[0, 600, 700, 800, 900], 5, true);
        assert_eq!((bursts.entries, bursts.filled[2]), (26.0, 3.0));
        assert_eq!(bursts.filled.iter().sum::<f32>(), 3.0);
    }

    #[test]
    fn bursts_are_forgotten_with_the_entries_around_them() {
        let mut bursts = Bursts::default();
        looked(&mut bursts, 9_000, &[0, 100, 200, 300, 1_200], 5, false);
        let before: Vec<(f64, f64)> = bursts.spans().collect();
        assert_eq!((before.len(), before[0], before[2]), (KINDS, (300.0, 0.0), (1200.0, 0.5)));
        bursts.decay(90.0 * 86_400.0);
        assert!((f64::from(bursts.entries) - 5.0 / std::f64::consts::E).abs() < 1e-3);
        assert!(bursts.spans().nth(2).is_some_and(|(_, share)| (0.2..0.3).contains(&share)));
    }
}
