//! Corrects the rate of the hours and days ahead by a few explicit factors, without a network. It
//! exists for experiments only; an experiment sets the strength of each factor.
//!
//! - Recent activity: entries found over entries expected in the last hours and days, with a fade.
//!   The further ahead a step is, the less it is corrected.
//! - Uncertain rhythm: the less is known about a feed, the closer its hours and weekdays are to the
//!   mean.
//! - Quarter hours: how busy the quarter hours of a step are compared with the two hours around
//!   them.

use std::sync::{PoisonError, RwLock};

use feed::Time;

use super::TideModel;
use super::fine_day::QuartersAhead;
use super::recent_activity::MEMORY_SECS;

/// The limit of a correction, as a logarithm: 2.2 times more or less.
const LOG_MAX: f64 = 0.8;
/// Busy and quiet hours are not stretched or shrunk beyond this relation to the mean.
const RELATIVE: (f64, f64) = (0.05, 20.0);

static FACTORS: RwLock<Option<RecentFactors>> = RwLock::new(None);

/// The strength of each factor. Zero switches one off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecentFactors {
    /// The part of a surplus or lack of entries that continues, for two hours, eight hours, and a
    /// day and a quarter.
    pub recent: [f64; 3],
    /// How long it continues, as a multiple of its span.
    pub fade: f64,
    /// The entries that a surplus must exceed by far to count.
    pub prior: f64,
    /// The part of the rhythm (as a logarithm) that is taken away from an unknown feed.
    pub rhythm: f64,
    /// The number of known entries at which half of that is taken away.
    pub known: f64,
    /// The weight of the prior of quarter hours, in entries; zero switches them off.
    pub quarters: f64,
    /// The part of a lack of entries that counts.
    pub lack: f64,
}

impl Default for RecentFactors {
    fn default() -> RecentFactors {
        RecentFactors {
            recent: [0.0; 3],
            fade: 1.0,
            prior: 1.0,
            rhythm: 0.0,
            known: 30.0,
            quarters: 0.0,
            lack: 1.0,
        }
    }
}

/// Sets the factors in all threads of this process; `None` switches them off.
pub fn set_factors(factors: Option<RecentFactors>) {
    *FACTORS.write().unwrap_or_else(PoisonError::into_inner) = factors;
}

/// Returns the factors, if there are any.
pub(crate) fn factors() -> Option<RecentFactors> {
    *FACTORS.read().unwrap_or_else(PoisonError::into_inner)
}

/// The factors of one feed at its last poll.
pub(crate) struct FeedFactors {
    /// The logarithm of the correction now, and the seconds in which it fades.
    recent: [(f64, f64); 3],
    rhythm: f64,
    rate: f64,
    quarters: Option<QuartersAhead>,
}

impl FeedFactors {
    pub(crate) fn new(factors: &RecentFactors, tide: &TideModel, at: Time) -> FeedFactors {
        let part = |i: usize| {
            let (found, expected) = (tide.recent.found[i], tide.recent.expected[i]);
            let prior = factors.prior;
            let log = ((f64::from(found) + prior) / (f64::from(expected) + prior)).ln();
            let log = if log < 0.0 { factors.lack * log } else { log };
            (factors.recent[i] * log, factors.fade * MEMORY_SECS[i])
        };
        let unknown = factors.known / (factors.known + tide.n_known());
        FeedFactors {
            recent: [part(0), part(1), part(2)],
            rhythm: factors.rhythm * unknown,
            rate: tide.rate(),
            quarters: (factors.quarters > 0.0)
                .then(|| QuartersAhead::new(tide, at, factors.quarters)),
        }
    }

    /// Returns the factor for a step of `secs` seconds that begins `from_secs` ahead, in which
    /// `expected` entries are expected.
    pub(crate) fn of_step(&self, from_secs: f64, secs: f64, expected: f64) -> f64 {
        if secs <= 0.0 || self.rate <= 0.0 {
            return 1.0;
        }
        let ahead = from_secs + 0.5 * secs;
        let parts = self.recent.iter().filter(|(log, _)| *log != 0.0);
        let mut log: f64 = parts.map(|(log, fade)| log * (-ahead / fade).exp()).sum();
        if self.rhythm != 0.0 {
            let relative = (expected / (secs * self.rate)).clamp(RELATIVE.0, RELATIVE.1);
            log -= self.rhythm * relative.ln();
        }
        let fine = self.quarters.as_ref().map_or(1.0, |ahead| ahead.of_step(from_secs, secs));
        fine * log.clamp(-LOG_MAX, LOG_MAX).exp()
    }
}
