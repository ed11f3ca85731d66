//! Fits a power law to counts: y = a·x^b, where y is the number of feeds with exactly x entries.
//!
//! The dissertation prints a ≈ 677 and b ≈ −0.74 (section 3.7.4) and does not say how it fitted
//! them. [`least_squares`] fits a line to the logarithms, over the distinct x with equal weight:
//! the usual way, which is biased because rare values weigh as much as common ones.
//! [`maximum_likelihood`] gives the exponent of the discrete power law P(x) ∝ x^b for
//! x_min ≤ x ≤ x_max.

use std::collections::BTreeMap;

/// y = a·x^b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLawFit {
    pub a: f64,
    pub b: f64,
}

/// Counts how many values there are of each size, from 1 on.
pub fn frequencies(values: impl Iterator<Item = u64>) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for value in values.filter(|value| *value > 0) {
        *counts.entry(value).or_default() += 1;
    }
    counts
}

/// Fits by least squares of ln y on ln x; `None` with fewer than two distinct x.
pub fn least_squares(counts: &BTreeMap<u64, u64>) -> Option<PowerLawFit> {
    let n = counts.len() as f64;
    if counts.len() < 2 {
        return None;
    }
    let points = || counts.iter().map(|(x, y)| ((*x as f64).ln(), (*y as f64).ln()));
    let mean_x = points().map(|p| p.0).sum::<f64>() / n;
    let mean_y = points().map(|p| p.1).sum::<f64>() / n;
    let sxy: f64 = points().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let sxx: f64 = points().map(|(x, _)| (x - mean_x) * (x - mean_x)).sum();
    let b = sxy / sxx;
    Some(PowerLawFit { a: (mean_y - b * mean_x).exp(), b })
}

/// Fits b of P(x) ∝ x^b by maximum likelihood, for whole x from `x_min` to the largest x; `None`
/// with fewer than two distinct x. The factor `a` makes the curve a number of feeds.
pub fn maximum_likelihood(counts: &BTreeMap<u64, u64>, x_min: u64) -> Option<PowerLawFit> {
    let x_min = x_min.max(1);
    let tail: Vec<(u64, u64)> = counts.range(x_min..).map(|(x, y)| (*x, *y)).collect();
    let (&(x_max, _), true) = (tail.last()?, tail.len() >= 2) else { return None };
    let n: f64 = tail.iter().map(|(_, y)| *y as f64).sum();
    let mean_ln = tail.iter().map(|(x, y)| *y as f64 * (*x as f64).ln()).sum::<f64>() / n;
    // The likelihood is greatest where the mean of ln x under the law equals the observed mean.
    // That mean rises with b.
    let (mut low, mut high) = (-20.0_f64, 20.0_f64);
    for _ in 0..100 {
        let b = f64::midpoint(low, high);
        let (sum, sum_ln) = power_sums(x_min, x_max, b);
        if sum_ln / sum < mean_ln { low = b } else { high = b }
    }
    let b = f64::midpoint(low, high);
    Some(PowerLawFit { a: n / power_sums(x_min, x_max, b).0, b })
}

/// Tails with fewer values say nothing about an exponent.
const TAIL_MIN: u64 = 50;
/// Starts of the tail that are tried.
const STARTS_MAX: usize = 60;

/// Fits the tail by maximum likelihood. The tail begins where the law fits best: at the x with the
/// smallest distance of Kolmogorov and Smirnov (Clauset, Shalizi and Newman 2009). Returns x_min
/// and the fit.
pub fn tail(counts: &BTreeMap<u64, u64>) -> Option<(u64, PowerLawFit)> {
    let mut left: u64 = counts.values().sum();
    let mut best: Option<(f64, u64, PowerLawFit)> = None;
    for (x_min, n) in counts.iter().take(STARTS_MAX) {
        if left < TAIL_MIN {
            break;
        }
        left -= n;
        let Some(fit) = maximum_likelihood(counts, *x_min) else { break };
        let distance = distance(counts, *x_min, fit);
        if best.is_none_or(|best| distance < best.0) {
            best = Some((distance, *x_min, fit));
        }
    }
    best.map(|(_, x_min, fit)| (x_min, fit))
}

/// Returns the largest difference between the law and the shares of values up to each x.
fn distance(counts: &BTreeMap<u64, u64>, x_min: u64, fit: PowerLawFit) -> f64 {
    let n: f64 = counts.range(x_min..).map(|(_, y)| *y as f64).sum();
    let (mut seen, mut expected, mut next, mut largest) = (0.0, 0.0, x_min, 0.0_f64);
    for (x, y) in counts.range(x_min..) {
        seen += *y as f64;
        expected += fit.a * power_sums(next, *x, fit.b).0;
        next = x + 1;
        largest = largest.max((seen - expected).abs() / n);
    }
    largest
}

/// Values up to here are summed one by one; larger ones by Euler and Maclaurin's formula.
const EXACT: u64 = 2000;

/// Returns Σ x^b and Σ x^b·ln x over whole x from `from` to `to`.
fn power_sums(from: u64, to: u64, b: f64) -> (f64, f64) {
    let (mut sum, mut sum_ln) = (0.0, 0.0);
    let term = |x: f64| (x.powf(b), x.powf(b) * x.ln());
    let exact_to = to.min(from.saturating_add(EXACT));
    for x in from..=exact_to {
        let (y, y_ln) = term(x as f64);
        (sum, sum_ln) = (sum + y, sum_ln + y_ln);
    }
    if to > exact_to {
        // Σ f(x) for x in (p, q] ≈ ∫ f from p to q, plus half the difference at the ends.
        let (p, q) = (exact_to as f64, to as f64);
        let e = b + 1.0;
        let (area, area_ln) = if e.abs() < 1e-12 {
            ((q / p).ln(), (q.ln().powi(2) - p.ln().powi(2)) / 2.0)
        } else {
            let at = |x: f64| (x.powf(e) / e, x.powf(e) * (x.ln() / e - 1.0 / (e * e)));
            (at(q).0 - at(p).0, at(q).1 - at(p).1)
        };
        let (end, start) = (term(q), term(p));
        sum += area + (end.0 - start.0) / 2.0;
        sum_ln += area_ln + (end.1 - start.1) / 2.0;
    }
    (sum, sum_ln)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published law over x = 1 … 12 million holds about 178,000 feeds.
    #[test]
    fn the_published_law_holds_as_many_feeds_as_were_published() {
        let (sum, _) = power_sums(1, 12_000_000, -0.74);
        let feeds = 677.0 * sum;
        assert!((feeds - 178_000.0).abs() < 1000.0, "{feeds}");
    }

    #[test]
    fn an_exact_law_is_found_again_by_both_ways() {
        let counts: BTreeMap<u64, u64> =
            (1..=300).map(|x| (x, (1e9 * (x as f64).powf(-1.3)).round() as u64)).collect();
        let line = least_squares(&counts).unwrap();
        assert!((line.b + 1.3).abs() < 1e-4 && (line.a / 1e9 - 1.0).abs() < 1e-4, "{line:?}");
        let likely = maximum_likelihood(&counts, 1).unwrap();
        assert!((likely.b + 1.3).abs() < 1e-4 && (likely.a / 1e9 - 1.0).abs() < 1e-3, "{likely:?}");
    }

    #[test]
    fn the_sum_by_areas_agrees_with_the_sum_of_all_terms() {
        for b in [-2.5, -1.0, -0.74, 0.3] {
            let (near, near_ln) = power_sums(1, 50_000, b);
            let terms = || (1..=50_000_u64).map(|x| x as f64);
            let all: f64 = terms().map(|x| x.powf(b)).sum();
            let all_ln: f64 = terms().map(|x| x.powf(b) * x.ln()).sum();
            assert!((near / all - 1.0).abs() < 1e-6, "{b}");
            assert!((near_ln / all_ln - 1.0).abs() < 1e-6, "{b}");
        }
    }

    /// Below 8 the values are uniform, from 8 on they follow x^−2.2.
    #[test]
    fn the_tail_begins_where_the_law_begins() {
        let body = (1..8).map(|x| (x, 3000));
        let law = (8..=3000).map(|x| (x, (2e6 * (x as f64).powf(-2.2)).round() as u64));
        let counts: BTreeMap<u64, u64> = body.chain(law).filter(|(_, y)| *y > 0).collect();
        let (x_min, fit) = tail(&counts).unwrap();
        assert!((7..=9).contains(&x_min), "{x_min}");
        assert!((fit.b + 2.2).abs() < 0.05, "{fit:?}");
    }

    /// Draws from x^−1.8 by a fixed sequence: maximum likelihood finds the exponent, and least
    /// squares is biased by the rare large values.
    #[test]
    fn likelihood_finds_the_exponent_that_values_were_drawn_from() {
        let mut chance = lab::Chance::new(7, 0);
        let drawn = (0..20_000).map(|_| chance.power_law(1.0, 10_000.0, 1.8).floor() as u64);
        let counts = frequencies(drawn);
        // Rounding down makes small values too frequent, so the tail is fitted.
        let likely = maximum_likelihood(&counts, 10).unwrap();
        assert!((likely.b + 1.8).abs() < 0.1, "{likely:?}");
        assert!(least_squares(&counts).unwrap().b > likely.b + 0.2);
        assert_eq!(maximum_likelihood(&frequencies([3, 3].into_iter()), 1), None);
        assert_eq!(tail(&frequencies([3, 3].into_iter())), None);
    }
}
