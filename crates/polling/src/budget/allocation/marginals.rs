//! Equal marginals: the common step of the allocators that have no closed form.
//!
//! Each feed's rate of looks falls as the price of a look rises; the price λ at which all of them
//! together spend the budget, Σ f_i(λ) = M, is found by bisection. Where the looks jump at one
//! price (every further look gains the same, down to the last bit), the budget lies within the
//! jump, and so does the answer. It knows no objective.
//!
//! ```
//! use polling::budget::min_miss::{WindowDemand, looks};
//!
//! // Far too few looks for such feeds: each saves a whole window, whoever gets it.
//! let busy = |rate| WindowDemand { rate, weight: 1.0, window: 20 };
//! let f = looks(&[busy(1e4), busy(3e4)], 8.0);
//! assert!((f[0] - 2.0).abs() < 1e-6 && (f[1] - 6.0).abs() < 1e-6);
//! ```

/// Steps of bisection over the price; an f64 has no more bits to gain.
const STEPS: usize = 200;

/// Of more feeds the price is sought over an even sample of this many: their looks are as exact as
/// before, and the price is off by a percent, which the optimum, being flat, forgives.
const SAMPLE: usize = 20_000;

/// The looks at the price at which they cost `budget`. `looks(i, price)` must not rise with the
/// price; `price_max` is one at which nobody is looked at, or hardly.
pub(crate) fn balance(
    n: usize,
    budget: f64,
    price_max: f64,
    looks: impl Fn(usize, f64) -> f64,
) -> Vec<f64> {
    let solvable = budget > 0.0 && price_max > 0.0;
    if !solvable {
        return vec![0.0; n];
    }
    let stride = n.div_ceil(SAMPLE).max(1);
    let share = n.div_ceil(stride) as f64 / n as f64;
    let spent = |price: f64| (0..n).step_by(stride).map(|i| looks(i, price)).sum::<f64>() / share;
    // The price is sought by its logarithm: it spans many orders of magnitude.
    let (mut low, mut high) = (price_max.ln() - 100.0, price_max.ln());
    while spent(high.exp()) > budget && high < 600.0 {
        high += 10.0;
    }
    while spent(low.exp()) < budget && low > -700.0 {
        low -= 10.0;
    }
    for _ in 0..STEPS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if spent(middle.exp()) > budget { low = middle } else { high = middle }
    }
    let at = |price: f64| -> Vec<f64> { (0..n).map(|i| looks(i, price)).collect() };
    let (cheap, dear) = (at(low.exp()), at(high.exp()));
    let (most, least): (f64, f64) = (cheap.iter().sum(), dear.iter().sum());
    let part = ((budget - least) / (most - least)).clamp(0.0, 1.0);
    let part = if part.is_nan() { 0.0 } else { part };
    let mut result: Vec<f64> = cheap.iter().zip(&dear).map(|(c, d)| d + part * (c - d)).collect();
    // What rounding left is shared in proportion.
    let sum: f64 = result.iter().sum();
    if sum > 0.0 {
        result.iter_mut().for_each(|f| *f *= budget / sum);
    }
    result
}

/// The root of a rising function between two points, by Newton's steps from `start`; where a step
/// leaves the two points that enclose the root, they are halved instead. `f` gives the value and
/// the slope.
pub(crate) fn newton(
    (mut low, mut high): (f64, f64),
    start: f64,
    f: impl Fn(f64) -> (f64, f64),
) -> f64 {
    let mut x = start.clamp(low, high);
    for _ in 0..STEPS {
        let (value, slope) = f(x);
        match value < 0.0 {
            true => low = x,
            false => high = x,
        }
        let step = x - value / slope;
        let next = if step > low && step < high { step } else { low + (high - low) / 2.0 };
        if (next - x).abs() <= 2.0 * f64::EPSILON * x.abs() || next <= low || next >= high {
            return next;
        }
        x = next;
    }
    x
}

/// The root of a rising function between two points, by bisection.
pub(crate) fn rising_root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..STEPS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    low + (high - low) / 2.0
}
