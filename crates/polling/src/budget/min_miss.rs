//! `min-miss` — as few entries as possible leave the window unseen (described in dissertation 003,
//! section 2.7.4, without a formula; the reading is ours).
//!
//! Minimise Σ f_i·E[(N_i − W_i)⁺] with N_i ~ Poisson(λ_i/f_i) under Σf_i = M and even spacing. With
//! L = λ/f: E[(N − W)⁺] = L·P(N ≥ W) − W·P(N > W), and the marginal −d/df of the whole is
//! W·P(N > W), which rises with L: equal marginals give the optimum, f = 0 where w·W is below the
//! price.
//!
//! ```
//! use polling::budget::min_miss::{Shown, looks};
//!
//! // The same rate through a short and a long window.
//! let feeds = [Shown { rate: 100.0, weight: 1.0, window: 10 }, Shown { rate: 100.0, weight: 1.0, window: 100 }];
//! let f = looks(&feeds, 10.0);
//! assert!(f[0] > 5.0 * f[1]);
//! ```

use super::marginals::{balance, rising_root};

/// A feed as its window shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Entries per period.
    pub rate: f64,
    pub weight: f64,
    /// Entries in its window.
    pub window: u32,
}

/// Looks per period.
pub fn looks(feeds: &[Shown], budget: f64) -> Vec<f64> {
    let worth = |d: &Shown| {
        if d.rate > 0.0 { (d.weight * f64::from(d.window.max(1))).max(0.0) } else { 0.0 }
    };
    let price_max = feeds.iter().map(worth).fold(0.0, f64::max);
    balance(feeds.len(), budget, price_max, |i, price| {
        let d = &feeds[i];
        let share = price / worth(d);
        if share.is_nan() || share >= 1.0 {
            return 0.0;
        }
        let window = f64::from(d.window.max(1));
        // Far beyond the window the tail is one in every bit.
        let high = window + 40.0 * window.sqrt() + 800.0;
        let mean = rising_root(0.0, high, |mean| more_than(d.window.max(1), mean) - share);
        d.rate / mean.max(1e-12)
    })
}

/// Entries missed per period: f·E[(N − W)⁺].
pub fn missed(feed: Shown, f: f64) -> f64 {
    if f <= 0.0 {
        return feed.rate;
    }
    let (mean, window) = (feed.rate / f, feed.window.max(1));
    let beyond = more_than(window, mean);
    let at_least = more_than(window - 1, mean);
    f * (mean * at_least - f64::from(window) * beyond).max(0.0)
}

/// P(N > w) for N ~ Poisson(mean): one minus the first terms, or the tail where that is smaller.
pub fn more_than(w: u32, mean: f64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    let w = f64::from(w);
    // ln(mean^k/k!·e^−mean) at k = w or k = w + 1, then neighbours by multiplication.
    if mean > w + 1.0 {
        let mut term = (w * mean.ln() - mean - ln_factorial(w)).exp();
        let (mut sum, mut k) = (0.0, w);
        while term > 0.0 && k >= 0.0 {
            sum += term;
            term *= k / mean;
            k -= 1.0;
        }
        return (1.0 - sum).clamp(0.0, 1.0);
    }
    let first = w + 1.0;
    let mut term = (first * mean.ln() - mean - ln_factorial(first)).exp();
    let (mut sum, mut k) = (0.0, first);
    while term > sum * f64::EPSILON / 4.0 && term > 0.0 {
        sum += term;
        k += 1.0;
        term *= mean / k;
    }
    sum.clamp(0.0, 1.0)
}

/// ln k!, summed for small k, by Stirling's series beyond.
fn ln_factorial(k: f64) -> f64 {
    if k < 32.0 {
        return (2..=k as u32).map(|i| f64::from(i).ln()).sum();
    }
    let x = k + 1.0;
    (x - 0.5) * x.ln() - x + 0.918_938_533_204_672_7 + 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3))
        + 1.0 / (1260.0 * x.powi(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_poisson_tail_is_the_textbooks() {
        assert!((more_than(0, 1.0) - 0.632_120_558_828_557_7).abs() < 1e-14);
        assert!((more_than(9, 10.0) - 0.542_070_285_528_147_8).abs() < 1e-12);
        assert!((more_than(10, 2.0) - 8.308_224_0e-6).abs() < 1e-10);
        assert!((more_than(100, 50.0) / 1.569745972437e-10 - 1.0).abs() < 1e-9);
        assert!(more_than(5, 5000.0) > 1.0 - 1e-12);
    }

    #[test]
    fn expected_misses_equal_the_sum_over_the_distribution() {
        let feed = Shown { rate: 30.0, weight: 1.0, window: 10 };
        let (f, mean) = (2.5, 12.0_f64);
        let (mut p, mut sum) = ((-mean).exp(), 0.0);
        for n in 1..200 {
            p *= mean / f64::from(n);
            sum += p * f64::from((n - 10).max(0));
        }
        assert!((missed(feed, f) - f * sum).abs() < 1e-10);
    }
}
