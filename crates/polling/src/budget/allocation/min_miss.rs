//! `min-miss` — minimises the entries that leave the window unseen (described in dissertation 003,
//! section 2.7.4, without a formula; the interpretation is ours).
//!
//! Minimise Σ f_i·E[(N_i − W_i)⁺] with N_i ~ Poisson(λ_i/f_i) under Σf_i = M and even spacing. With
//! L = λ/f: E[(N − W)⁺] = L·P(N ≥ W) − W·P(N > W). The marginal −d/df of the whole is W·P(N > W),
//! which rises with L. Equal marginals give the optimum; f = 0 if w·W is below the price.
//!
//! ```
//! use polling::budget::min_miss::{WindowDemand, polls};
//!
//! // The same rate through a short and a long window.
//! let feed = |window| WindowDemand { rate: 100.0, weight: 1.0, window };
//! let f = polls(&[feed(10), feed(100)], 10.0);
//! assert!(f[0] > 5.0 * f[1]);
//! ```

use super::marginals::{balance, newton};

/// The demand of a feed with a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowDemand {
    /// Entries per period.
    pub rate: f64,
    pub weight: f64,
    /// Entries in its window.
    pub window: u32,
}

/// Returns the polls per period of each feed.
pub fn polls(feeds: &[WindowDemand], budget: f64) -> Vec<f64> {
    let worth = |d: &WindowDemand| {
        if d.rate > 0.0 { (d.weight * f64::from(d.window.max(1))).max(0.0) } else { 0.0 }
    };
    let price_max = feeds.iter().map(worth).fold(0.0, f64::max);
    balance(feeds.len(), budget, price_max, |i, price| {
        let d = &feeds[i];
        let share = price / worth(d);
        if share.is_nan() || share >= 1.0 {
            return 0.0;
        }
        d.rate / mean_at(d.window.max(1), share).max(1e-12)
    })
}

/// Returns the mean at which P(N > w) is `share`, between 0 and 1. Far below the window the
/// probability is a power of the mean, and far above it the rest is exponential. Logarithms make
/// both nearly straight: Newton's method needs few steps, and no digit is lost.
fn mean_at(w: u32, share: f64) -> f64 {
    let window = f64::from(w);
    let ln_term = |mean: f64| window * mean.ln() - mean - ln_factorial(window);
    if share < 0.5 {
        let n = window + 1.0;
        let start = ((share.ln() + ln_factorial(n)) / n).min(n.ln());
        let f = |y: f64| {
            let ln_more = ln_more_than(window, y.exp());
            (ln_more - share.ln(), (y + ln_term(y.exp()) - ln_more).exp())
        };
        return newton((-800.0, n.ln()), start, f).exp();
    }
    let f = |mean: f64| {
        let ln_rest = at_most(window, mean).ln();
        ((1.0 - share).ln() - ln_rest, (ln_term(mean) - ln_rest).exp())
    };
    // Far beyond the window the tail is one in every bit.
    newton((0.0, window + 40.0 * window.sqrt() + 800.0), window + 1.0, f)
}

/// Returns the entries missed per period: f·E[(N − W)⁺].
pub fn missed(feed: WindowDemand, f: f64) -> f64 {
    if f <= 0.0 {
        return feed.rate;
    }
    let (mean, window) = (feed.rate / f, feed.window.max(1));
    let beyond = more_than(window, mean);
    let at_least = more_than(window - 1, mean);
    f * (mean * at_least - f64::from(window) * beyond).max(0.0)
}

/// Returns P(N > w) for N ~ Poisson(mean): one minus the first terms, or the tail if that is
/// smaller.
pub fn more_than(w: u32, mean: f64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    let w = f64::from(w);
    if mean > w + 1.0 { 1.0 - at_most(w, mean) } else { ln_more_than(w, mean).exp() }
        .clamp(0.0, 1.0)
}

/// Returns ln P(N > w), summed upwards from k = w + 1; the terms fall if the mean is at most that.
fn ln_more_than(w: f64, mean: f64) -> f64 {
    let first = w + 1.0;
    let (mut sum, mut term, mut k) = (0.0, 1.0, first);
    while term > sum * f64::EPSILON / 4.0 {
        sum += term;
        k += 1.0;
        term *= mean / k;
    }
    first * mean.ln() - mean - ln_factorial(first) + sum.ln()
}

/// Returns P(N ≤ w): summed downwards from k = w if the mean is above it, else one minus the tail.
fn at_most(w: f64, mean: f64) -> f64 {
    if mean <= w + 1.0 {
        return 1.0 - ln_more_than(w, mean).exp();
    }
    let mut term = (w * mean.ln() - mean - ln_factorial(w)).exp();
    let (mut sum, mut k) = (0.0, w);
    while term > sum * f64::EPSILON / 4.0 && k >= 0.0 {
        sum += term;
        term *= k / mean;
        k -= 1.0;
    }
    sum
}

/// Returns ln k!, summed for small k, by Stirling's series beyond.
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
    fn the_mean_of_a_tail_is_found_from_the_faintest_to_the_surest() {
        for w in [1, 2, 20, 31, 32, 100, 300] {
            for share in [1e-300, 1e-50, 1e-9, 0.01, 0.4999, 0.5, 0.9, 1.0 - 1e-9] {
                let mean = mean_at(w, share);
                let ln_found = match share < 0.5 {
                    true => ln_more_than(f64::from(w), mean) - share.ln(),
                    false => at_most(f64::from(w), mean).ln() - (1.0 - share).ln(),
                };
                assert!(ln_found.abs() < 1e-6, "{w} {share}: {mean} {ln_found}");
            }
        }
    }

    #[test]
    fn expected_misses_equal_the_sum_over_the_distribution() {
        let feed = WindowDemand { rate: 30.0, weight: 1.0, window: 10 };
        let (f, mean) = (2.5, 12.0_f64);
        let (mut p, mut sum) = ((-mean).exp(), 0.0);
        for n in 1..200 {
            p *= mean / f64::from(n);
            sum += p * f64::from((n - 10).max(0));
        }
        assert!((missed(feed, f) - f * sum).abs() < 1e-10);
    }
}
