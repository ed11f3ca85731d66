//! Corrects the rate of the hours and days ahead by what the feed did lately: a small fixed network
//! with one hidden layer. Its input is the state of the model at the last poll, and for each step
//! ahead how far away it is and how busy its hours usually are. Its output is a factor for the
//! expected entries of the step.
//!
//! The network does not learn while the program runs. An experiment sets its weights.

use std::sync::{PoisonError, RwLock};

use feed::Time;

use super::TideModel;
use super::fine_day::QuartersAhead;
use super::recent_activity::GAPS;

/// The hidden units.
pub const HIDDEN: usize = 16;
/// The numbers that describe a feed at its last poll; the first is always 1.
pub const INPUTS: usize = 22;
/// The numbers that describe a step ahead.
pub const STEP_INPUTS: usize = 5;
/// The weights: those of the inputs and of the step for each hidden unit, the output weights, and
/// the output's bias.
pub const WEIGHTS: usize = HIDDEN * (INPUTS + STEP_INPUTS + 1) + 1;

const DAY_SECS: f64 = 86_400.0;
const HOUR_SECS: f32 = 3600.0;
/// The limit of a correction, as a logarithm: it approaches 2.9 times more or less.
pub const LOG_MAX: f32 = 1.2;

/// The weight of an even activity of quarter hours, in entries.
const QUARTERS_PRIOR: f64 = 3.0;

static CORRECTION: RwLock<Option<[f32; WEIGHTS]>> = RwLock::new(None);

/// Sets the weights of the correction in all threads of this process; `None` switches it off.
pub fn set_correction(weights: Option<[f32; WEIGHTS]>) {
    *CORRECTION.write().unwrap_or_else(PoisonError::into_inner) = weights;
}

/// Calls `apply` with the weights, if there are any.
pub(crate) fn with_correction(apply: impl FnOnce(&[f32; WEIGHTS])) {
    let weights = CORRECTION.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(weights) = &*weights {
        apply(weights);
    }
}

/// The network with the inputs of one feed applied.
pub(crate) struct Correction<'w> {
    weights: &'w [f32],
    /// The sums of the hidden units without the step's part.
    sums: [f32; HIDDEN],
    ahead: StepsAhead,
}

/// Describes the steps ahead of a poll.
pub struct StepsAhead {
    /// The feed's mean rate.
    rate: f64,
    quarters: QuartersAhead,
}

impl StepsAhead {
    pub fn new(tide: &TideModel, at: Time) -> StepsAhead {
        StepsAhead { rate: tide.rate(), quarters: QuartersAhead::new(tide, at, QUARTERS_PRIOR) }
    }

    /// Returns the numbers that describe a step: twice how far ahead it is, twice how busy it
    /// usually is compared with the mean, and how busy its quarter hours are. `None` if it is
    /// empty.
    pub fn inputs(&self, from_secs: f64, secs: f64, expected: f64) -> Option<[f32; STEP_INPUTS]> {
        if secs <= 0.0 || self.rate <= 0.0 {
            return None;
        }
        let relative = (expected / (secs * self.rate)) as f32;
        let hours = (from_secs + 0.5 * secs) as f32 / HOUR_SECS;
        let fine = self.quarters.of_step(from_secs, secs) as f32;
        let log = (relative + 0.05).ln() / 2.0;
        Some([share(hours, 4.0), share(hours, 36.0), share(relative, 1.0), fine.ln(), log])
    }
}

/// A value from 0 to 1 that is one half at `half`.
fn share(value: f32, half: f32) -> f32 {
    value / (value + half)
}

/// Returns the factor of an output: about its exponential, without the cost of one.
pub fn factor(output: f32) -> f32 {
    let y = LOG_MAX * output / (LOG_MAX + output.abs());
    let size = y.abs();
    let grown = 1.0 + size + 0.5 * size * size;
    if y < 0.0 { 1.0 / grown } else { grown }
}

impl<'w> Correction<'w> {
    /// Applies the inputs of a feed to a network with [`WEIGHTS`] weights.
    pub(crate) fn new(weights: &'w [f32; WEIGHTS], tide: &TideModel, at: Time) -> Self {
        let inputs = &tide.correction_inputs();
        let mut sums = [0.0; HIDDEN];
        for (row, input) in weights.as_chunks::<HIDDEN>().0.iter().zip(inputs) {
            sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight * input);
        }
        Correction { weights, sums, ahead: StepsAhead::new(tide, at) }
    }

    /// Returns the factor for a step of `secs` seconds that begins `from_secs` ahead, in which
    /// `expected` entries are expected.
    pub(crate) fn of_step(&self, from_secs: f64, secs: f64, expected: f64) -> f64 {
        let Some(step) = self.ahead.inputs(from_secs, secs, expected) else { return 1.0 };
        let (rows, _) = self.weights[HIDDEN * INPUTS..].as_chunks::<HIDDEN>();
        let mut sums = self.sums;
        for (row, input) in rows.iter().zip(step) {
            sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight * input);
        }
        let out = sums.iter().zip(&rows[STEP_INPUTS]).map(|(sum, out)| sum.max(0.0) * out);
        f64::from(factor(out.sum::<f32>() + self.weights[WEIGHTS - 1]))
    }
}

impl TideModel {
    /// Returns the numbers that describe the feed at its last poll.
    pub fn correction_inputs(&self) -> [f32; INPUTS] {
        let (recent, rate) = (&self.recent, self.level.rate());
        let [short, long] = &self.level.spans;
        let per_sec = rate as f32;
        let ratio = |found: f32, expected: f32| ((found + 0.5) / (expected + 0.5)).ln();
        let long_rate = (long.entries + 0.5) / (long.watched + 0.5 * DAY_SECS);
        let mut inputs = [0.0; INPUTS];
        inputs[0] = 1.0;
        inputs[1] = ((rate * DAY_SECS) as f32 + 0.01).ln() / 3.0;
        inputs[2] = (1.0 + long.entries as f32).ln() / 4.0;
        inputs[3] = ratio(short.entries as f32, (short.watched * long_rate) as f32);
        for span in 0..3 {
            inputs[4 + span] = ratio(recent.found[span], recent.expected[span]);
            inputs[7 + span] = share(recent.expected[span], 1.0);
        }
        let since = match (self.last, recent.newest) {
            (Some(last), Some(newest)) => last.since(newest).as_secs_f32(),
            _ => 1e9,
        };
        inputs[10] = share(since * per_sec, 1.0);
        inputs[11] = share(since, 12.0 * HOUR_SECS);
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        let mut newest = 0.0;
        for gap in recent.gaps_secs.into_iter().take_while(|gap| *gap > 0.0) {
            let log = (gap * per_sec + 0.02).ln();
            if n == 0.0 {
                newest = log;
            }
            (n, sum, squares) = (n + 1.0, sum + log, squares + log * log);
        }
        if n > 0.0 {
            let mean: f32 = sum / n;
            inputs[12] = newest / 2.0;
            inputs[13] = mean / 2.0;
            inputs[14] = (squares / n - mean * mean).max(0.0).sqrt();
        }
        inputs[15] = n / GAPS as f32;
        inputs[16] = self.rate_change.independent() as f32;
        inputs[17] = (1.0 + recent.last_found).ln() / 2.0;
        inputs[18] = share(recent.last_gap_secs, 12.0 * HOUR_SECS);
        inputs[19] = (self.rate_change.higher.evidence - self.rate_change.lower.evidence) / 9.0;
        inputs[20] = share(short.watched as f32, 5.0 * DAY_SECS as f32);
        inputs[21] = share(self.hour_change.evidence, 5.0);
        inputs
    }
}
