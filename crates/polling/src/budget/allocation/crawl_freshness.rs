//! `crawl-freshness` — the crawler policy optimal for freshness (Cho and Garcia-Molina 2003;
//! its metric in dissertation 003, section 2.4.1).
//!
//! A page that changes at λ and is polled f times is fresh for the share F = (f/λ)(1 − e^{−λ/f}) of
//! the time. The optimum under Σf = M has equal marginals w·(1 − e^{−r}(1 + r))/λ with r = λ/f. The
//! rate f is 0 if even the first poll is worth less: pages that change too often get no polls. For
//! feeds that is a disadvantage; the strategy serves as a comparison.
//!
//! ```
//! use polling::budget::crawl_freshness::polls;
//! use polling::budget::allocation::Demand;
//!
//! let feeds = [1.0, 2.0, 3.0, 4.0, 5.0].map(|rate| Demand { rate, weight: 1.0, cost: 1.0 });
//! let f = polls(&feeds, 5.0);
//! assert!((f[1] - 1.358_411_947_412_44).abs() < 1e-9 && f[4] == 0.0);
//! ```

use super::Demand;
use super::marginals::{balance, newton};

/// Returns the polls per period of each feed.
pub fn polls(feeds: &[Demand], budget: f64) -> Vec<f64> {
    let worth = |d: &Demand| if d.rate > 0.0 { (d.weight / d.rate).max(0.0) } else { 0.0 };
    let price_max = feeds.iter().map(worth).fold(0.0, f64::max);
    balance(feeds.len(), budget, price_max, |i, price| {
        let d = &feeds[i];
        // Solve 1 − e^{−r}(1 + r) = price·λ/w for r = λ/f.
        let share = price / worth(d);
        if share < 1.0 { d.rate / inverse(share) } else { 0.0 }
    })
}

/// Returns the r at which 1 − e^{−r}(1 + r) has a value in (0, 1).
fn inverse(value: f64) -> f64 {
    // For small r the function is r²/2; beyond 800 it is one in every bit. Its slope is r·e^{−r}.
    let start = (2.0 * value).sqrt().max(-(-value).ln_1p());
    let f = |r: f64| (-(-r).exp_m1() - r * (-r).exp() - value, r * (-r).exp());
    newton((0.0, 800.0), start, f).max(1e-12)
}

/// Returns F: the share of time in which the stored copy is current.
pub fn freshness(rate: f64, f: f64) -> f64 {
    if rate <= 0.0 {
        return 1.0;
    }
    if f <= 0.0 { 0.0 } else { -(-rate / f).exp_m1() * f / rate }
}
