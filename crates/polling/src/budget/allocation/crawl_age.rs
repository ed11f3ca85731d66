//! `crawl-age` — the crawler policy optimal for age (Cho and Garcia-Molina 2003; its
//! metric in dissertation 003, section 2.4.1).
//!
//! A page that changes at λ and is polled every I = 1/f has a mean age A. Counted from the first
//! unseen change, A = I·(½ − 1/(λI) + (1 − e^{−λI})/(λI)²). The optimum under Σf = M has equal
//! marginals w·(x²/2 + (1 + x)e^{−x} − 1)/λ² with x = λ·I.
//!
//! ```
//! use polling::budget::crawl_age::polls;
//! use polling::budget::allocation::Demand;
//!
//! let feeds = [1.0, 2.0, 3.0, 4.0, 5.0].map(|rate| Demand { rate, weight: 1.0, cost: 1.0 });
//! assert!((polls(&feeds, 5.0)[0] - 0.834_869_990_334_63).abs() < 1e-9);
//! ```

use super::Demand;
use super::marginals::{balance, newton};

/// Returns the polls per period of each feed.
pub fn polls(feeds: &[Demand], budget: f64) -> Vec<f64> {
    let counts = |d: &Demand| d.rate > 0.0 && d.weight > 0.0;
    let steepest = feeds.iter().filter(|d| counts(d)).map(|d| d.weight / (d.rate * d.rate));
    balance(feeds.len(), budget, steepest.fold(0.0, f64::max), |i, price| {
        let d = &feeds[i];
        if !counts(d) {
            return 0.0;
        }
        d.rate / inverse(price * d.rate * d.rate / d.weight)
    })
}

/// Returns the x at which x²/2 + (1 + x)e^{−x} − 1 has a value above 0.
fn inverse(value: f64) -> f64 {
    // The function is at least x²/2 − 1 and, for small x, x³/3.
    let high = (2.0 * (value + 1.0)).sqrt().max((3.0 * value).cbrt() * 2.0);
    let marginal = |x: f64| {
        // The direct form loses all digits for small x.
        if x < 1e-3 {
            x * x * x / 3.0 - x.powi(4) / 8.0
        } else {
            x * x / 2.0 + (1.0 + x) * (-x).exp() - 1.0
        }
    };
    let start = (3.0 * value).cbrt().max((2.0 * value).sqrt());
    newton((0.0, high), start, |x| (marginal(x) - value, x * -(-x).exp_m1())).max(1e-12)
}

/// Returns A, in periods.
pub fn age(rate: f64, f: f64) -> f64 {
    if rate <= 0.0 {
        return 0.0;
    }
    let (interval, x) = (1.0 / f, rate / f);
    if x < 1e-3 {
        return interval * (x / 6.0 - x * x / 24.0);
    }
    interval * (0.5 - 1.0 / x - (-x).exp_m1() / (x * x))
}
