//! Learns at which minutes of the hour a feed posts. Timers post on the hour, the half hour and the
//! quarters; a poll one minute later finds the entry fresh.
//!
//! A factor is the entries seen in a minute over those expected there, with the weight of a prior.
//! The prior is a mixture of manual posting (all minutes alike) and timers. Other grids, such as
//! six past every hour, are learned from the feed alone. Hours of the day are not known here.
//!
//! ```
//! use feed::{Observation, Time};
//! use polling::{Bounds, Policy};
//!
//! // A timer posts on every half hour: the poll comes a minute after one.
//! let policy: Policy = "tide:55m".parse().unwrap();
//! let times: Vec<Time> = (0..400).map(|n| Time::from_secs(n * 1800)).collect();
//! let seen = Observation::first(Time::from_secs(720_000), &times);
//! let mut learned = policy.start();
//! policy.learn(&mut learned, &seen);
//! let wish = policy.wish(&learned, &seen, &Bounds::EVALUATION);
//! assert_eq!(wish.at.secs() % 1800, 60);
//! ```

use std::ops::Range;

use feed::Time;

use super::visibility::Visibility;
use crate::tuning::{Constant, tuned};

const MINUTE_SECS: f64 = 60.0;
const MINUTE_MS: i64 = 60_000;
/// The weight of the prior, in entries over the whole hour.
const PRIOR: f64 = 30.0;
/// The weight of one entry as evidence: entries come in bursts, so ten of them count as five.
const EVIDENCE_WEIGHT: f64 = 0.5;
/// The prior probability of a timer, and the activity of its minutes: full hour, half hour,
/// quarters, other multiples of five, and the rest. Measured on 45 news pages.
const TIMER_WEIGHT: f64 = 0.3;
const TIMER: [f64; 5] = [9.0, 6.0, 2.2, 1.3, 0.62];
/// The share of entries on the ticks of a clock, for feeds that publish by a clock.
const ON_CLOCK: f64 = 0.9;
/// A minute is worth waiting for if it is this many times busier than the mean.
const OUTSTANDING: f64 = 3.0;

/// Entries seen in each minute, and the factors computed from them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Minutes {
    /// Decays like the hours.
    pub(super) seen: [f32; 60],
    /// The activity of each minute; the mean is 1.
    factors: [f64; 60],
    /// ∫ factor and ∫ s·factor from the start of the hour to the end of each minute, in seconds.
    sums: [(f64, f64); 61],
    /// The minutes that stand out, one bit each.
    outstanding: u64,
}

impl Default for Minutes {
    fn default() -> Minutes {
        let sums = [(0.0, 0.0); 61];
        Minutes { seen: [0.0; 60], factors: [1.0; 60], sums, outstanding: 0 }
    }
}

/// The class of [`TIMER`] of each minute.
const CLASSES: [usize; 60] = {
    let mut classes = [4; 60];
    let mut five = 0;
    while five < 60 {
        classes[five] = 3;
        five += 5;
    }
    (classes[0], classes[30], classes[15], classes[45]) = (0, 1, 2, 2);
    classes
};

impl Minutes {
    /// Returns minutes that are all alike.
    pub(crate) fn even() -> Minutes {
        let end = |minute: usize| minute as f64 * MINUTE_SECS;
        let sums = std::array::from_fn(|minute| (end(minute), 0.5 * end(minute) * end(minute)));
        Minutes { sums, ..Minutes::default() }
    }

    /// Returns the mean activity of a quarter of the hour.
    #[cfg(feature = "tuning")]
    pub(super) fn quarter(&self, quarter: usize) -> f64 {
        (self.sums[15 * (quarter + 1)].0 - self.sums[15 * quarter].0) / 900.0
    }

    pub(super) fn count_entry(&mut self, at: Time) {
        self.seen[at.millis().div_euclid(MINUTE_MS).rem_euclid(60) as usize] += 1.0;
    }

    /// Counts undated entries: `whole` entries of whole hours, and two partial hours with the
    /// expected entries per second. Every minute gets its expected share.
    pub(super) fn count_parts(&mut self, whole: f64, cut: &[Option<(Range<f64>, f64)>; 2]) {
        for (minute, (seen, factor)) in self.seen.iter_mut().zip(&self.factors).enumerate() {
            let begin = minute as f64 * MINUTE_SECS;
            let within = |part: &Range<f64>| {
                (part.end.min(begin + MINUTE_SECS) - part.start.max(begin)).max(0.0)
            };
            let parts = cut.iter().flatten().map(|(part, rate)| rate * within(part)).sum::<f64>();
            *seen += (factor * (whole / 60.0 + parts)) as f32;
        }
    }

    /// Decays the counts; `kept` is the part that stays.
    pub(super) fn decay(&mut self, kept: f64) {
        self.seen.iter_mut().for_each(|n| *n *= kept as f32);
    }

    /// Recomputes the factors. All minutes were watched alike. A known publication clock is trusted
    /// before many entries were seen.
    pub(super) fn recompute(&mut self, rule: Visibility) {
        if let Visibility::OnClock { period: period @ ..=60, minute } = rule {
            let (period, tick) = (usize::from(period), usize::from(minute));
            let (at_ticks, rest) = (ON_CLOCK * period as f64, 1.0 - ON_CLOCK);
            self.draw(|m| if m % period == tick % period { at_ticks + rest } else { rest });
            return;
        }
        // Most minutes belong to the last class, which gets the rest.
        let mut by_class = [0.0, 0.0, 0.0, 0.0, self.n_seen()];
        for minute in (0..60).step_by(5) {
            let seen = f64::from(self.seen[minute]);
            by_class[CLASSES[minute]] += seen;
            by_class[4] -= seen;
        }
        let likely = by_class.iter().zip(TIMER).map(|(seen, factor)| seen * factor.ln());
        let usual = tuned(Constant::TimerWeight, TIMER_WEIGHT);
        let evidence_weight = tuned(Constant::MinutesWitness, EVIDENCE_WEIGHT);
        let likely = usual.ln() - (1.0 - usual).ln() + evidence_weight * likely.sum::<f64>();
        // Both kinds of posting expect the same number of entries in total.
        let timer = 1.0 / (1.0 + (-likely).exp());
        self.draw(|minute| timer * TIMER[CLASSES[minute]] + (1.0 - timer));
    }

    /// Uses four sums that a processor can compute in parallel.
    fn n_seen(&self) -> f64 {
        let mut sums = [0.0; 4];
        for four in self.seen.chunks_exact(4) {
            sums.iter_mut().zip(four).for_each(|(sum, seen)| *sum += f64::from(*seen));
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// Recomputes the factors for a prior activity of each minute.
    fn draw(&mut self, prior: impl Fn(usize) -> f64) {
        let mut sum = 0.0;
        let weight = tuned(Constant::MinutesPrior, PRIOR) / 60.0;
        for (minute, factor) in self.factors.iter_mut().enumerate() {
            *factor = f64::from(self.seen[minute]) + weight * prior(minute);
            sum += *factor;
        }
        // All minutes were expected to hold the same number of entries: the mean is 1.
        let scale = 60.0 / sum;
        let much = tuned(Constant::Outstanding, OUTSTANDING);
        let (mut first, mut second) = (0.0, 0.0);
        self.outstanding = 0;
        for (minute, factor) in self.factors.iter_mut().enumerate() {
            *factor *= scale;
            self.outstanding |= u64::from(*factor > much) << minute;
            first += *factor * MINUTE_SECS;
            second += *factor * MINUTE_SECS * MINUTE_SECS * (minute as f64 + 0.5);
            self.sums[minute + 1] = (first, second);
        }
    }

    /// Returns ∫ factor and ∫ s·factor over the first `secs` of an hour.
    pub(crate) fn sums(&self, secs: f64) -> (f64, f64) {
        let minute = ((secs / MINUTE_SECS) as usize).min(59);
        let begin = minute as f64 * MINUTE_SECS;
        let (first, second) = self.sums[minute];
        let more = self.factors[minute] * (secs - begin);
        (first + more, second + more * 0.5 * (secs + begin))
    }

    /// Returns whether some minute stands out.
    pub(crate) fn is_uneven(&self) -> bool {
        self.outstanding != 0
    }

    /// Returns the minutes that stand out, one bit each.
    pub(crate) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Returns the minutes that have ended `secs` into the hour.
    pub(crate) fn ended(secs: f64) -> u64 {
        (1 << ((secs / MINUTE_SECS) as u32).min(60)) - 1
    }

    /// Returns when the first of some minutes ends, and its activity.
    pub(crate) fn first_of(&self, minutes: u64) -> (f64, f64) {
        let first = minutes.trailing_zeros().min(59) as usize;
        ((first + 1) as f64 * MINUTE_SECS, self.factors[first])
    }
}
