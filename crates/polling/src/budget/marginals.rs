//! Equal marginals: the common step of the allocators that have no closed form.
//!
//! Each feed's rate of looks falls as the price of a look rises; the price at which all of them
//! together spend the budget is found by bisection. It knows no objective.

/// Steps of bisection over the price; an f64 has no more bits to gain.
const STEPS: usize = 200;

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
    let spent = |price: f64| -> f64 { (0..n).map(|i| looks(i, price)).sum() };
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
    let price = high.exp();
    let mut result: Vec<f64> = (0..n).map(|i| looks(i, price)).collect();
    // What is left of the last bit of the price is shared in proportion.
    let sum: f64 = result.iter().sum();
    if sum > 0.0 {
        result.iter_mut().for_each(|f| *f *= budget / sum);
    }
    result
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
