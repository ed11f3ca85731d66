//! Equal marginals: the common step of the allocators without a closed form.
//!
//! The poll rate of each feed falls as the price of a poll rises. Bisection finds the price λ at
//! which all feeds together spend the budget, Σ f_i(λ) = M. If the polls jump at one price (every
//! further poll gains the same to the last bit), the budget lies within the jump, and so does the
//! result.
//!
//! ```
//! use polling::budget::min_miss::{WindowDemand, polls};
//!
//! // Far too few polls for such feeds: each poll saves a whole window.
//! let busy = |rate| WindowDemand { rate, weight: 1.0, window: 20 };
//! let f = polls(&[busy(1e4), busy(3e4)], 8.0);
//! assert!((f[0] - 2.0).abs() < 1e-6 && (f[1] - 6.0).abs() < 1e-6);
//! ```

/// Steps of bisection over the price; an f64 has no more bits to gain.
const STEPS: usize = 200;

/// For more feeds the price is searched on an even sample of this many. The price is then off by
/// about a percent, which hardly matters near the optimum.
const SAMPLE: usize = 20_000;

/// Returns the polls at the price at which they cost `budget`. `polls(i, price)` must not rise with
/// the price. At `price_max` there are no polls, or hardly any.
pub(crate) fn balance(
    n: usize,
    budget: f64,
    price_max: f64,
    polls: impl Fn(usize, f64) -> f64,
) -> Vec<f64> {
    let solvable = budget > 0.0 && price_max > 0.0;
    if !solvable {
        return vec![0.0; n];
    }
    let stride = n.div_ceil(SAMPLE).max(1);
    let share = n.div_ceil(stride) as f64 / n as f64;
    let spent = |price: f64| (0..n).step_by(stride).map(|i| polls(i, price)).sum::<f64>() / share;
    // The search uses the logarithm of the price, which spans many orders of magnitude.
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
    let at = |price: f64| -> Vec<f64> { (0..n).map(|i| polls(i, price)).collect() };
    let (cheap, dear) = (at(low.exp()), at(high.exp()));
    let (most, least): (f64, f64) = (cheap.iter().sum(), dear.iter().sum());
    let part = ((budget - least) / (most - least)).clamp(0.0, 1.0);
    let part = if part.is_nan() { 0.0 } else { part };
    let mut result: Vec<f64> = cheap.iter().zip(&dear).map(|(c, d)| d + part * (c - d)).collect();
    // Correct the rounding in proportion.
    let sum: f64 = result.iter().sum();
    if sum > 0.0 {
        result.iter_mut().for_each(|f| *f *= budget / sum);
    }
    result
}

/// Returns the root of a rising function between two points, by Newton's method from `start`. A
/// step that leaves the enclosing interval is replaced by bisection. `f` returns the value and the
/// slope.
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

/// Returns the root of a rising function between two points, by bisection.
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
