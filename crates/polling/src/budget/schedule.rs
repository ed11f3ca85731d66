//! When in the period to look, given how often (Sia, Cho and Cho 2007, theorems 2 and 3; source 002).
//!
//! - One look (theorem 2): best where λ(τ) equals its mean and λ is falling.
//! - m looks (theorem 3): λ(τ_j)·(τ_{j+1} − τ_j) = ∫_{τ_{j−1}}^{τ_j} λ(t) dt for all j, cyclic. It is
//!   necessary only, and needs a continuous λ.
//!
//! Two ways to find them: over the first two points on a grid, the rest following from the
//! equation ([`exhaustive`]); or step by step from even points ([`refined`]), each point moved to
//! its best place between its neighbours. The second also serves λ in slots, whose best points may
//! lie on an edge, where the equation does not hold.
//!
//! ```
//! use polling::budget::{curve::Curve, schedule};
//!
//! // Example 1: λ = 1 on [0, 1), 0 on [1, 2). One look at the end of the busy half.
//! let curve = Curve::slots(&[1.0, 0.0], 2.0);
//! let points = schedule::best(&curve, 1);
//! assert!((points[0] - 1.0).abs() < 1e-9);
//! assert!((schedule::delay(&curve, &points) - 0.5).abs() < 1e-9);
//! assert_eq!(schedule::delay(&curve, &[0.0]), 1.5);
//! ```

use super::curve::Curve;

/// Half an hour of a day: the paper's grid.
pub const GRID: usize = 48;
/// Sweeps over all points; they end by themselves when nothing moves.
const SWEEPS_MAX: usize = 20_000;
/// Moves smaller than this share of the period are none.
const STILL: f64 = 1e-13;
/// Looks per period that are scheduled one by one; more are as good as evenly spaced.
pub const POINTS_MAX: usize = 96;

/// The waiting per period of all that is published, looked at in the given points (cyclic).
pub fn delay(curve: &Curve, points: &[f64]) -> f64 {
    let Some(last) = points.last() else { return f64::INFINITY };
    let mut before = last - curve.period();
    let mut sum = 0.0;
    for point in points {
        sum += curve.waiting(before, *point);
        before = *point;
    }
    sum
}

/// Even points, shifted by `offset`.
pub fn even(curve: &Curve, m: usize, offset: f64) -> Vec<f64> {
    let gap = curve.period() / m as f64;
    (0..m).map(|j| offset + j as f64 * gap).collect()
}

/// `m` good points: refined from the best even spacing on the grid.
pub fn best(curve: &Curve, m: usize) -> Vec<f64> {
    let m = m.clamp(1, POINTS_MAX);
    let step = curve.period() / GRID as f64;
    let starts = (0..GRID.div_ceil(m)).map(|k| even(curve, m, k as f64 * step));
    let start = least(curve, starts).unwrap_or_else(|| even(curve, m, 0.0));
    refined(curve, start)
}

fn least(curve: &Curve, schedules: impl Iterator<Item = Vec<f64>>) -> Option<Vec<f64>> {
    schedules
        .map(|points| (delay(curve, &points), points))
        .filter(|(delay, _)| delay.is_finite())
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, points)| points)
}

/// Iterative refinement: each point in turn goes to its best place between its neighbours.
pub fn refined(curve: &Curve, mut points: Vec<f64>) -> Vec<f64> {
    let (m, period) = (points.len(), curve.period());
    for _ in 0..SWEEPS_MAX {
        let mut moved: f64 = 0.0;
        for j in 0..m {
            let before = if j == 0 { points[m - 1] - period } else { points[j - 1] };
            let after = if j + 1 == m { points[0] + period } else { points[j + 1] };
            let place = between(curve, before, points[j], after);
            moved = moved.max((place - points[j]).abs());
            points[j] = place;
        }
        if moved < STILL * period {
            break;
        }
    }
    // A schedule that drifted past midnight is the same schedule.
    points.iter_mut().for_each(|p| *p = p.rem_euclid(period));
    points.sort_by(f64::total_cmp);
    points
}

/// Where one look between two others leaves the least waiting; the old place where none is better.
fn between(curve: &Curve, before: f64, old: f64, after: f64) -> f64 {
    let waiting = |t: f64| curve.waiting(before, t) + curve.waiting(t, after);
    let mut best = (waiting(old), old);
    let mut consider = |t: f64| {
        let w = waiting(t);
        if t > before && t < after && w < best.0 - best.0.abs() * 1e-15 {
            best = (w, t);
        }
    };
    match curve {
        Curve::Smooth { .. } => return slope_zero(curve, before, after),
        Curve::Slots { rates, period, .. } => {
            let width = period / rates.len() as f64;
            let (first, last) = ((before / width).floor() as i64, (after / width).ceil() as i64);
            for slot in first..last {
                let (from, to) = (slot as f64 * width, (slot + 1) as f64 * width);
                let rate = rates[slot.rem_euclid(rates.len() as i64) as usize];
                consider(from);
                // Λ(before, t) = λ·(after − t) within the slot.
                let sum = curve.sum(from) - curve.sum(before);
                let root = (rate * (after + from) - sum) / (2.0 * rate);
                if rate > 0.0 && root > from && root < to {
                    consider(root);
                }
            }
        }
    }
    best.1
}

/// Theorem 3 for one point: Λ(before, t) − λ(t)·(after − t) rises from below to above zero.
fn slope_zero(curve: &Curve, before: f64, after: f64) -> f64 {
    let slope = |t: f64| curve.sum(t) - curve.sum(before) - curve.rate(t) * (after - t);
    super::marginals::rising_root(before, after, slope)
}

/// All first two points on the grid, the rest by the equation; the best of them, refined.
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

/// The points that follow from the first two; `None` where they do not fit into a period.
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

/// The best points on a grid of `n`, exactly, by dynamic programming; as numbers on the grid.
pub fn on_grid(curve: &Curve, m: usize, n: usize) -> Vec<usize> {
    let m = m.clamp(1, n);
    let step = curve.period() / n as f64;
    let waiting = |a: usize, b: usize| curve.waiting(a as f64 * step, b as f64 * step);
    let mut best = (f64::INFINITY, vec![0]);
    for first in 0..n {
        // least[j][k]: the waiting from `first` to point first + k, reached by j further looks.
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
