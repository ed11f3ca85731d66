//! `lambda-crawl` — the harmonic allocator of LambdaCrawl (Kolobov, Peres, Lu and Horvitz, NeurIPS
//! 2019).
//!
//! With importance μ_i, change rate D_i and budget R: ρ_i = (−D_i + √(D_i² + 4·μ_i·D_i/λ))/2, λ by
//! bisection so that Σρ_i = R. It minimises the harmonic staleness cost of sources whose changes
//! are seen only by polling.
//!
//! ```
//! use polling::budget::{allocation::Demand, lambda_crawl::polls};
//!
//! let feeds = [1.0, 1.0].map(|rate| Demand { rate, weight: 1.0, cost: 1.0 });
//! assert_eq!(polls(&feeds, 4.0), [2.0, 2.0]);
//! ```

use super::Demand;
use super::marginals::balance;

/// Returns the polls per period of each feed.
pub fn polls(feeds: &[Demand], budget: f64) -> Vec<f64> {
    let counts = |d: &Demand| d.rate > 0.0 && d.weight > 0.0;
    // At λ = 4μ/D the poll rate is (√2 − 1)/2 of the change rate. The bisection itself finds higher
    // prices for smaller budgets.
    let price_max = feeds.iter().filter(|d| counts(d)).map(|d| 4.0 * d.weight / d.rate);
    balance(feeds.len(), budget, price_max.fold(0.0, f64::max), |i, price| {
        let d = &feeds[i];
        if !counts(d) {
            return 0.0;
        }
        // −D + √(D² + x) = x/(√(D² + x) + D): this form keeps its digits for small x.
        let x = 4.0 * d.weight * d.rate / price;
        x / ((d.rate * d.rate + x).sqrt() + d.rate) / 2.0
    })
}
