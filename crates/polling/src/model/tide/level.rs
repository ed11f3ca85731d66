//! Estimates how often a feed posts: entries over watched time, averaged exponentially over two
//! spans. The short span is shrunk towards the long one, and that towards a Gamma prior. Time is
//! weighted by the activity of its hours, so that a quiet night is not a sign of silence.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::model::ModelKind;
//!
//! // A hundred entries in twenty days are five a day.
//! let times: Vec<Time> = (0..100).map(|n| Time::from_secs(n * 17_280)).collect();
//! let at = Time::from_secs(20 * 86_400);
//! let mut model = ModelKind::Tide.start();
//! model.learn(&Observation::first(at, &times));
//! let week = model.expect(at, at.shifted(7 * 86_400_000));
//! assert!((31.0..39.0).contains(&week), "{week}");
//! ```

use crate::tuning::{Constant, tuned};

/// The two memory spans. Ten days follow a feed that starts or stops; four months distinguish one
/// entry a month from one a year. The short span reduces the delay by 1 %. A third span of hours or
/// a day follows noise and costs up to 2.5 % of delay (measured on the lab's worlds).
const MEMORY_SECS: [f64; 2] = [240.0 * 3600.0, 3000.0 * 3600.0];
/// The weight, in entries, of the next level: of the long span, and of the prior.
const WEIGHT: [f64; 2] = [3.0, 0.5];
/// The rate of an unknown feed. Three entries a day are many for a feed but right for a first poll:
/// the first hours without an entry correct it.
const PRIOR_RATE: f64 = 3.0 / 86_400.0;
/// A shorter time does not measure a rate: a feed may show entries that all came within a second.
const WATCHED_MIN_SECS: f64 = 3600.0;

/// Entries and watched time, in seconds of mean activity, for each span.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RateLevel {
    pub(super) spans: [RateSpan; 2],
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RateSpan {
    pub(super) entries: f64,
    pub(super) watched: f64,
}

impl RateLevel {
    /// Returns the plain rate of `entries` over `secs`.
    pub(super) fn of(entries: f64, secs: f64) -> f64 {
        entries / secs.max(WATCHED_MIN_SECS)
    }

    /// Returns the posterior mean, in entries per second.
    pub(super) fn rate(&self) -> f64 {
        let [long, prior] = WEIGHT;
        let weights = [tuned(Constant::LevelWeight, long), tuned(Constant::LevelPrior, prior)];
        let spans = self.spans.iter().zip(weights).rev();
        spans.fold(tuned(Constant::LevelPriorRate, PRIOR_RATE), |above, (span, weight)| {
            (span.entries + weight) / (span.watched + weight / above)
        })
    }

    /// Returns the entries of the last months, on which the rate is based.
    pub(super) fn n_known(&self) -> f64 {
        self.spans[1].entries
    }

    /// Returns the number of entries that the rate is worth: those of the short span, and the
    /// weight of the long one. After a change the short span begins again.
    pub(super) fn n_effective(&self) -> f64 {
        self.spans[0].entries + self.spans[1].entries.min(WEIGHT[0])
    }

    pub(super) fn count_entry(&mut self) {
        self.spans.iter_mut().for_each(|span| span.entries += 1.0);
    }

    /// Restarts the short span after a change: only `since` counts.
    pub(super) fn restart_short_span(&mut self, since: RateSpan) {
        let [short, _] = &mut self.spans;
        if since.watched < short.watched {
            *short = since;
        }
    }

    /// Decays the counts over `secs`, in which `activity` seconds of mean activity were watched.
    pub(super) fn decay(&mut self, secs: f64, activity: f64) {
        if secs <= 0.0 {
            return;
        }
        let [short, long] = MEMORY_SECS;
        let memories = [tuned(Constant::LevelShort, short), tuned(Constant::LevelLong, long)];
        for (span, memory) in self.spans.iter_mut().zip(memories) {
            let kept = (-secs / memory).exp();
            span.entries *= kept;
            // ∫ e^{−x/M} dx over the interval, as if its activity were even.
            span.watched = span.watched * kept + activity * memory * (1.0 - kept) / secs;
        }
    }
}
