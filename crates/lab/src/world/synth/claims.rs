//! Entries that do not say when they appeared: some become visible long after the time they claim,
//! some have their date rewritten. In a recorded news feed the median of the former was 40
//! minutes (a tenth above 7 hours), and a third of all dates were rewritten.
//!
//! The times at which entries appear stay as they were drawn, so that populations with and
//! without it hold the same entries; only what they claim moves. A trace has room for one claim:
//! a rewritten one is there from the beginning, which a feed would only show later.

use feed::Time;

use super::Population;
use crate::{Chance, exact};

/// How many entries claim another time than that of their appearing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClaimErrors {
    /// Appear after the time they claim.
    pub late_percent: u8,
    /// Claim a time after that of their appearing.
    pub rewritten_percent: u8,
}

/// The chances of one feed are told from those of its drawing by this bit of their stream.
const STREAM: u64 = 1 << 40;
/// The median of how late entries are, in seconds.
const LATE_MEDIAN: f64 = 40.0 * 60.0;
/// 7 hours are 10.5 times the median; ln 10.5 over ln 9, the logit of a tenth.
const LATE_SPREAD: f64 = 1.07;
/// Nothing is later than this, in seconds.
const LATE_MAX: f64 = 7.0 * 86_400.0;
/// A date is rewritten this much later on average, in seconds.
const REWRITTEN_MEAN: f64 = 3.0 * 3600.0;

impl Population {
    /// The same population, with entries that claim other times; the same seed, the same claims.
    pub fn with_claim_errors(mut self, seed: u64, given: &ClaimErrors) -> Population {
        if *given == ClaimErrors::default() {
            return self;
        }
        for (number, feed) in (0_u64..).zip(&mut self.feeds) {
            let mut chance = Chance::new(seed, STREAM | number);
            let claims = feed.times.iter().map(|time| given.claim(*time, &mut chance));
            feed.claims = Some(claims.collect());
        }
        self
    }
}

impl ClaimErrors {
    /// An entry may be both: then its first date, too early, is lost with the rewriting.
    fn claim(&self, visible: Time, chance: &mut Chance) -> Time {
        let late = chance.percent(self.late_percent.into()).then(|| lateness(chance));
        let rewritten = chance.percent(self.rewritten_percent.into());
        let rewritten = rewritten.then(|| chance.exponential(REWRITTEN_MEAN));
        let seconds = rewritten.or(late.map(|late| -late)).unwrap_or(0.0);
        visible.shifted(seconds.round() as i64 * 1000)
    }
}

/// Log-logistic: a median, and a tail as heavy as the recorded one.
fn lateness(chance: &mut Chance) -> f64 {
    // Neither end: the logarithm of the odds has none.
    let u = chance.between(1e-6, 1.0 - 1e-6);
    let odds = exact::ln(u / (1.0 - u));
    (LATE_MEDIAN * exact::exp(LATE_SPREAD * odds)).clamp(1.0, LATE_MAX)
}
