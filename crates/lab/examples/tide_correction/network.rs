//! Fits the network by stochastic gradient descent (Adam) on the Poisson likelihood of the entries
//! that came. The result depends on the samples and the seed only.

use lab::Chance;
use polling::model::tide::correction::{HIDDEN, INPUTS, LOG_MAX, STEP_INPUTS, WEIGHTS, factor};

use crate::samples::Sample;

const EPOCHS: usize = 10;
const BATCH: usize = 256;
/// The first step size; it falls to a fiftieth.
const RATE: f32 = 4e-3;
/// The part of a weight that each step takes away, in units of the step size.
const DECAY: f32 = 1e-2;
/// The part of the fitted correction that is applied: a network is too sure of other feeds.
const TRUST: f32 = 0.5;
/// The largest derivative of one step by its output: a burst is one event, not thirty.
const PULL_MAX: f32 = 3.0;
/// The rows of the weights: inputs, steps, output.
const STEP_ROW: usize = INPUTS;
const OUT_ROW: usize = INPUTS + STEP_INPUTS;
const BIAS: usize = WEIGHTS - 1;

struct Adam {
    weights: [f32; WEIGHTS],
    mean: [f32; WEIGHTS],
    square: [f32; WEIGHTS],
    steps: i32,
}

/// Fits a network to the samples, each with a weight.
pub fn fit(samples: &[(&Sample, f32)], seed: u64) -> [f32; WEIGHTS] {
    let mut chance = Chance::new(seed, 0);
    let mut weights = [0.0; WEIGHTS];
    let spread = (2.0 / INPUTS as f32).sqrt();
    weights[..HIDDEN * OUT_ROW]
        .iter_mut()
        .for_each(|w| *w = spread * chance.between(-1.0, 1.0) as f32);
    weights[HIDDEN * OUT_ROW..BIAS]
        .iter_mut()
        .for_each(|w| *w = 0.1 * chance.between(-1.0, 1.0) as f32);
    let mut adam = Adam { weights, mean: [0.0; WEIGHTS], square: [0.0; WEIGHTS], steps: 0 };
    let mut order: Vec<u32> = (0..samples.len() as u32).collect();
    let total = (EPOCHS * samples.len() / BATCH) as f32;
    for _ in 0..EPOCHS {
        for i in (1..order.len()).rev() {
            order.swap(i, chance.below(i + 1));
        }
        for batch in order.chunks(BATCH) {
            let mut slope = [0.0; WEIGHTS];
            for i in batch {
                let (sample, weight) = samples[*i as usize];
                add_slope(&adam.weights, sample, weight / BATCH as f32, &mut slope);
            }
            let left = (1.0 - adam.steps as f32 / total).max(0.02);
            adam.step(&slope, RATE * left);
        }
    }
    let mut weights = adam.weights;
    weights[OUT_ROW * HIDDEN..].iter_mut().for_each(|w| *w *= TRUST);
    weights
}

impl Adam {
    fn step(&mut self, slope: &[f32; WEIGHTS], rate: f32) {
        self.steps += 1;
        let (b1, b2) = (0.9_f32, 0.999_f32);
        let (c1, c2) = (1.0 - b1.powi(self.steps), 1.0 - b2.powi(self.steps));
        for i in 0..WEIGHTS {
            let slope = slope[i];
            self.mean[i] = b1 * self.mean[i] + (1.0 - b1) * slope;
            self.square[i] = b2 * self.square[i] + (1.0 - b2) * slope * slope;
            let step = (self.mean[i] / c1) / ((self.square[i] / c2).sqrt() + 1e-6);
            self.weights[i] -= rate * (step + DECAY * self.weights[i]);
        }
    }
}

fn row(weights: &[f32; WEIGHTS], number: usize) -> &[f32] {
    &weights[number * HIDDEN..(number + 1) * HIDDEN]
}

/// Returns the sums of the hidden units without the steps' part.
fn sums(weights: &[f32; WEIGHTS], inputs: &[f32; INPUTS]) -> [f32; HIDDEN] {
    let mut sums = [0.0; HIDDEN];
    for (i, input) in inputs.iter().enumerate() {
        sums.iter_mut().zip(row(weights, i)).for_each(|(sum, w)| *sum += w * input);
    }
    sums
}

fn output(
    weights: &[f32; WEIGHTS],
    base: &[f32; HIDDEN],
    step: &[f32; STEP_INPUTS],
) -> ([f32; HIDDEN], f32) {
    let mut hidden = *base;
    for (i, input) in step.iter().enumerate() {
        hidden.iter_mut().zip(row(weights, STEP_ROW + i)).for_each(|(h, w)| *h += w * input);
    }
    hidden.iter_mut().for_each(|h| *h = h.max(0.0));
    let sum: f32 = hidden.iter().zip(row(weights, OUT_ROW)).map(|(h, w)| h * w).sum();
    (hidden, sum + weights[BIAS])
}

/// Adds the derivative of the loss of a sample.
fn add_slope(weights: &[f32; WEIGHTS], sample: &Sample, weight: f32, slope: &mut [f32; WEIGHTS]) {
    let base = sums(weights, &sample.inputs);
    let mut base_slope = [0.0; HIDDEN];
    for step in sample.steps.iter().filter(|step| step.weight > 0.0) {
        let (hidden, y) = output(weights, &base, &step.inputs);
        let f = factor(y);
        // The loss is E·f − N·ln f, with z = L·y/(L + |y|) and f as in `factor`. By z, ln f has the
        // derivative (1 + |z|)/(1 + |z| + z²/2). By y, z has L²/(L + |y|)².
        let size = LOG_MAX * y.abs() / (LOG_MAX + y.abs());
        let log_slope = (1.0 + size) / (1.0 + size + 0.5 * size * size)
            * (LOG_MAX / (LOG_MAX + y.abs())).powi(2);
        let pull = ((step.expected * f - step.came) * log_slope).clamp(-PULL_MAX, PULL_MAX);
        let pull = pull * weight * step.weight;
        slope[BIAS] += pull;
        for k in 0..HIDDEN {
            slope[OUT_ROW * HIDDEN + k] += pull * hidden[k];
            if hidden[k] > 0.0 {
                let down = pull * weights[OUT_ROW * HIDDEN + k];
                base_slope[k] += down;
                for (i, input) in step.inputs.iter().enumerate() {
                    slope[(STEP_ROW + i) * HIDDEN + k] += down * input;
                }
            }
        }
    }
    for (i, input) in sample.inputs.iter().enumerate() {
        for k in 0..HIDDEN {
            slope[i * HIDDEN + k] += base_slope[k] * input;
        }
    }
}

/// Returns the gain in log likelihood over factors of one, per entry that came.
pub fn gain(weights: &[f32; WEIGHTS], samples: &[&Sample]) -> f64 {
    let (mut gained, mut came) = (0.0, 0.0);
    for sample in samples {
        let base = sums(weights, &sample.inputs);
        for step in sample.steps.iter().filter(|step| step.weight > 0.0) {
            let f = factor(output(weights, &base, &step.inputs).1);
            let gain = step.came * f.ln() - step.expected * (f - 1.0);
            gained += f64::from(gain * step.weight);
            came += f64::from(step.came * step.weight);
        }
    }
    gained / came
}
