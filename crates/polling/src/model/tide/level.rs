//! How often a feed posts: entries over time watched, forgotten exponentially over two spans, the
//! short one shrunk into the long one and that into a Gamma prior. Time counts by how busy its
//! hours are, so that a quiet night is no sign of silence. It knows no hour.
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

/// How fast the past is forgotten: ten days, that follow a feed which wakes up or dies, and four
/// months, that tell one entry a month from one a year. The short span is worth 1 % of the delay;
/// a third one of hours or of a day follows noise and costs up to 2.5 %.
const MEMORY_SECS: [f64; 2] = [240.0 * 3600.0, 3000.0 * 3600.0];
/// The weight in entries of what stands above: the long span, the prior.
const WEIGHT: [f64; 2] = [3.0, 0.5];
/// What is expected of a feed nobody knows. Three entries a day are many for a feed and right for
/// a look: the first hours without an entry correct it.
const PRIOR_RATE: f64 = 3.0 / 86_400.0;
/// Less is no measure of a rate: a feed may show entries that all came within a second.
const WATCHED_MIN_SECS: f64 = 3600.0;

/// What was seen, and for how long it was watched, in seconds of mean activity; for each span.
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
    /// The plain rate of so many entries over so many seconds.
    pub(super) fn of(entries: f64, secs: f64) -> f64 {
        entries / secs.max(WATCHED_MIN_SECS)
    }

    /// The posterior mean, in entries per second.
    pub(super) fn rate(&self) -> f64 {
        let [long, prior] = WEIGHT;
        let weights = [tuned(Constant::LevelWeight, long), tuned(Constant::LevelPrior, prior)];
        let spans = self.spans.iter().zip(weights).rev();
        spans.fold(tuned(Constant::LevelPriorRate, PRIOR_RATE), |above, (span, weight)| {
            (span.entries + weight) / (span.watched + weight / above)
        })
    }

    /// How many entries the rate rests on, those of the last months.
    pub(super) fn n_known(&self) -> f64 {
        self.spans[1].entries
    }

    pub(super) fn count_entry(&mut self) {
        self.spans.iter_mut().for_each(|span| span.entries += 1.0);
    }

    /// Since the feed changed, this was seen: nothing before it counts for the short span.
    pub(super) fn restart_short_span(&mut self, since: RateSpan) {
        let [short, _] = &mut self.spans;
        if since.watched < short.watched {
            *short = since;
        }
    }

    /// `secs` go by, of which `activity` seconds of mean activity were watched.
    pub(super) fn decay(&mut self, secs: f64, activity: f64) {
        if secs <= 0.0 {
            return;
        }
        let [short, long] = MEMORY_SECS;
        let memories = [tuned(Constant::LevelShort, short), tuned(Constant::LevelLong, long)];
        for (span, memory) in self.spans.iter_mut().zip(memories) {
            let kept = (-secs / memory).exp();
            span.entries *= kept;
            // ∫ e^{−x/M} dx over the stretch, as if its activity were spread evenly.
            span.watched = span.watched * kept + activity * memory * (1.0 - kept) / secs;
        }
    }
}
