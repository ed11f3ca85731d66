//! How often a feed posts: entries over time watched, both forgotten exponentially, with a Gamma
//! prior. Time counts by how busy its hours are, so that a quiet night is no sign of silence.
//! It knows no hour.

/// How fast the past is forgotten: four months. Shorter memories follow noise: at equal polls ten
/// days cost 1 %, a day and a half 3 % more delay.
const MEMORY_SECS: f64 = 3000.0 * 3600.0;
/// The prior: its weight in entries, and the rate that it expects of a feed nobody knows. Three a
/// day is busy for a feed, and right for a look: the first hours without an entry correct it.
const PRIOR_ENTRIES: f64 = 0.5;
const PRIOR_RATE: f64 = 3.0 / 86_400.0;
/// Less is no measure of a rate: a feed may show entries that all came within a second.
const WATCHED_MIN_SECS: f64 = 3600.0;

/// What was seen, and for how long it was watched, in seconds of mean activity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Level {
    pub(super) entries: f64,
    pub(super) watched: f64,
}

impl Level {
    /// The plain rate of so many entries over so many seconds.
    pub(super) fn of(entries: f64, secs: f64) -> f64 {
        entries / secs.max(WATCHED_MIN_SECS)
    }

    /// The posterior mean, in entries per second.
    pub(super) fn rate(&self) -> f64 {
        (self.entries + PRIOR_ENTRIES) / (self.watched + PRIOR_ENTRIES / PRIOR_RATE)
    }

    pub(super) fn see(&mut self) {
        self.entries += 1.0;
    }

    /// `secs` go by, of which `activity` seconds of mean activity were watched.
    pub(super) fn pass(&mut self, secs: f64, activity: f64) {
        if secs <= 0.0 {
            return;
        }
        let kept = (-secs / MEMORY_SECS).exp();
        self.entries *= kept;
        // ∫ e^{−x/M} dx over the stretch, as if its activity were spread evenly.
        let fresh = MEMORY_SECS * (1.0 - kept) / secs;
        self.watched = self.watched * kept + activity * fresh;
    }
}
