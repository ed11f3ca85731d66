//! Schedules found by searching a grid (Sia, Cho and Cho 2007, section 3.2.2; source 002). One
//! search covers the first two points, with the rest from theorem 3; the other covers all points.
//!
//! ```
//! use polling::budget::{curve::Curve, search::on_grid};
//!
//! // All entries come between noon and two: polls at one, and at two.
//! let mut hours = [0.0; 24];
//! (hours[12], hours[13]) = (1.0, 1.0);
//! assert_eq!(on_grid(&Curve::slots(&hours, 24.0), 2, 24), [13, 14]);
//! ```

use super::curve::Curve;
use super::{GRID, even, least, refined};

/// Tries all first two points on the grid, with the rest from the equation, and refines the best.
pub fn exhaustive(curve: &Curve, m: usize) -> Vec<f64> {
    let step = curve.period() / GRID as f64;
    if m < 2 {
        let single = least(curve, (0..GRID).map(|k| vec![k as f64 * step]));
        return refined(curve, single.unwrap_or_else(|| vec![0.0]));
    }
    let pairs = (0..GRID).flat_map(|a| (a + 1..a + GRID).map(move |b| (a, b)));
    let followed = pairs.filter_map(|(a, b)| followed(curve, a as f64 * step, b as f64 * step, m));
    let start = least(curve, followed).unwrap_or_else(|| even(curve, m, 0.0));
    refined(curve, start)
}

/// Returns the points that follow from the first two; `None` if they do not fit into a period.
fn followed(curve: &Curve, first: f64, second: f64, m: usize) -> Option<Vec<f64>> {
    let mut points = vec![first, second];
    while points.len() < m {
        let (a, b) = (points[points.len() - 2], points[points.len() - 1]);
        let rate = curve.rate(b);
        let next = b + (curve.sum(b) - curve.sum(a)) / rate;
        if next.is_nan() || next <= b || next >= first + curve.period() {
            return None;
        }
        points.push(next);
    }
    Some(points)
}

/// Returns the exact best points on a grid of `n`, by dynamic programming, as numbers on the grid.
pub fn on_grid(curve: &Curve, m: usize, n: usize) -> Vec<usize> {
    let m = m.clamp(1, n);
    let step = curve.period() / n as f64;
    let waiting = |a: usize, b: usize| curve.waiting(a as f64 * step, b as f64 * step);
    let mut best = (f64::INFINITY, vec![0]);
    for first in 0..n {
        // least[j][k]: the waiting from `first` to point first + k, reached by j further polls.
        let mut least = vec![vec![(f64::INFINITY, 0); n + 1]; m + 1];
        least[0][0] = (0.0, 0);
        for j in 1..=m {
            for k in j..=n {
                for from in j - 1..k {
                    let reached = least[j - 1][from].0 + waiting(first + from, first + k);
                    if reached < least[j][k].0 {
                        least[j][k] = (reached, from);
                    }
                }
            }
        }
        if least[m][n].0 < best.0 - 1e-15 {
            let mut points = Vec::with_capacity(m);
            let mut k = n;
            for j in (1..=m).rev() {
                k = least[j][k].1;
                points.push((first + k) % n);
            }
            points.sort_unstable();
            best = (least[m][n].0, points);
        }
    }
    best.1
}
