//! Wrong claimed times: some entries become visible long after the time that they claim, and some
//! have their date rewritten. In a recorded news feed, the median lateness was 40 minutes (a tenth
//! above 7 hours), and a third of all dates were rewritten.
//!
//! The times of appearance stay as drawn, so that populations with and without errors have the same
//! entries. Only the claims move. A trace has one claim per entry, so a rewritten date is there
//! from the start; a real feed would change it later.

use feed::Time;

use super::Population;
use crate::{Chance, exact};

/// The share of entries that claim a wrong time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClaimErrors {
    /// The percentage of entries that appear after the time that they claim.
    pub late_percent: u8,
    /// The percentage of entries that claim a time after their appearance.
    pub rewritten_percent: u8,
}

/// This bit separates the random stream of claims from that of the feed.
const STREAM: u64 = 1 << 40;
/// The median lateness in seconds.
const LATE_MEDIAN: f64 = 40.0 * 60.0;
/// 7 hours are 10.5 times the median; ln 10.5 / ln 9, since ln 9 is the logit of 0.9.
const LATE_SPREAD: f64 = 1.07;
/// The largest lateness in seconds.
const LATE_MAX: f64 = 7.0 * 86_400.0;
/// The mean shift of a rewritten date in seconds.
const REWRITTEN_MEAN: f64 = 3.0 * 3600.0;

impl Population {
    /// Returns the same population with wrong claims. The same seed gives the same claims.
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
    /// If an entry is late and rewritten, only the rewriting counts.
    fn claim(&self, visible: Time, chance: &mut Chance) -> Time {
        let late = chance.percent(self.late_percent.into()).then(|| lateness(chance));
        let rewritten = chance.percent(self.rewritten_percent.into());
        let rewritten = rewritten.then(|| chance.exponential(REWRITTEN_MEAN));
        let seconds = rewritten.or(late.map(|late| -late)).unwrap_or(0.0);
        visible.shifted(seconds.round() as i64 * 1000)
    }
}

/// Log-logistic: the recorded median, and a tail as heavy as the recorded one.
fn lateness(chance: &mut Chance) -> f64 {
    // Excludes 0 and 1, where the logarithm of the odds is infinite.
    let u = chance.between(1e-6, 1.0 - 1e-6);
    let odds = exact::ln(u / (1.0 - u));
    (LATE_MEDIAN * exact::exp(LATE_SPREAD * odds)).clamp(1.0, LATE_MAX)
}
