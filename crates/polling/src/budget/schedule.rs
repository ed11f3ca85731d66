//! When in the period to look, given how often (Sia, Cho and Cho 2007, theorems 2 and 3; source 002).
//!
//! - One look (theorem 2): best where λ(τ) equals its mean and λ is falling.
//! - m looks (theorem 3): λ(τ_j)·(τ_{j+1} − τ_j) = ∫_{τ_{j−1}}^{τ_j} λ(t) dt for all j, cyclic. It is
//!   necessary only, and needs a continuous λ.
//!
//! Two ways to find them: over the first two points on a grid, the rest following from the
//! equation ([`exhaustive`](super::search::exhaustive)); or step by step from even points
//! ([`refined`]), each point moved to its best place between its neighbours. The second also serves λ in slots, whose best points may
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
/// The same for live use: less than a tenth of a second of a day.
const CLOSE: f64 = 1e-6;
/// Up to so many looks, schedules are grown point by point.
const GROWN_MAX: usize = 24;
/// Looks per period that are scheduled one by one; more are evenly spaced.
pub const POINTS_MAX: usize = 288;
/// Cells in which the density of many looks is summed.
const CELLS: usize = 480;

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

/// `m` good points. Up to a look an hour one point after the other is added and all are refined,
/// so that one look more never means more waiting; beyond, the density of looks follows √λ, which
/// is the optimum for many.
pub fn best(curve: &Curve, m: usize) -> Vec<f64> {
    let mut points = Vec::new();
    for k in 1..=m.min(GROWN_MAX) {
        let step = curve.period() / GRID as f64;
        let even = (0..GRID.div_ceil(k)).map(|i| even(curve, k, i as f64 * step));
        let start = least(curve, even.chain([by_density(curve, k)])).unwrap_or_default();
        let grown = settled(curve, with_one_more(curve, &points), CLOSE);
        points =
            least(curve, [grown, settled(curve, start, CLOSE)].into_iter()).unwrap_or_default();
    }
    let m = m.clamp(1, POINTS_MAX);
    if m > GROWN_MAX {
        while points.len() < m {
            points = with_one_more(curve, &points);
        }
        let many = settled(curve, by_density(curve, m), CLOSE);
        points = least(curve, [many, points].into_iter()).unwrap_or_default();
    }
    points
}

/// The points and one more, halfway between the two after which most waits.
fn with_one_more(curve: &Curve, points: &[f64]) -> Vec<f64> {
    let Some(first) = points.first() else { return vec![0.0] };
    let ends = points.iter().skip(1).copied().chain([first + curve.period()]);
    let gaps = points.iter().copied().zip(ends).map(|(a, b)| (curve.waiting(a, b), a, b));
    let longest = gaps.max_by(|a, b| a.0.total_cmp(&b.0));
    let middle = longest.map_or(0.0, |(_, a, b)| between(curve, a, (a + b) / 2.0, b));
    let mut more: Vec<f64> = points.iter().copied().chain([middle]).collect();
    wrap(curve, &mut more);
    more
}

/// Points whose density is that of √λ.
fn by_density(curve: &Curve, m: usize) -> Vec<f64> {
    let width = curve.period() / CELLS as f64;
    let roots: Vec<f64> =
        (0..CELLS).map(|i| curve.rate((i as f64 + 0.5) * width).max(0.0).sqrt()).collect();
    let per_point = roots.iter().sum::<f64>() / m as f64;
    if per_point <= 0.0 || !per_point.is_finite() {
        return even(curve, m, 0.0);
    }
    let (mut points, mut sum) = (Vec::with_capacity(m), 0.0);
    for (i, root) in roots.iter().enumerate() {
        while points.len() < m && sum + root >= (points.len() as f64 + 0.5) * per_point {
            let into = ((points.len() as f64 + 0.5) * per_point - sum) / root;
            points.push((i as f64 + into) * width);
        }
        sum += root;
    }
    points
}

pub(super) fn least(curve: &Curve, schedules: impl Iterator<Item = Vec<f64>>) -> Option<Vec<f64>> {
    schedules
        .map(|points| (delay(curve, &points), points))
        .filter(|(delay, _)| delay.is_finite())
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, points)| points)
}

/// Iterative refinement: each point in turn goes to its best place between its neighbours.
pub fn refined(curve: &Curve, points: Vec<f64>) -> Vec<f64> {
    settled(curve, points, STILL)
}

fn settled(curve: &Curve, mut points: Vec<f64>, still: f64) -> Vec<f64> {
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
        if moved < still * period {
            break;
        }
    }
    wrap(curve, &mut points);
    points
}

/// A schedule that drifted past midnight is the same schedule.
fn wrap(curve: &Curve, points: &mut [f64]) {
    points.iter_mut().for_each(|p| *p = p.rem_euclid(curve.period()));
    points.sort_by(f64::total_cmp);
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
