//! Places a given number of polls within a period (Sia, Cho and Cho 2007, theorems 2 and 3; source
//! 002).
//!
//! - One poll (theorem 2): best if λ(τ) equals its mean and λ is falling.
//! - m polls (theorem 3): λ(τ_j)·(τ_{j+1} − τ_j) = ∫_{τ_{j−1}}^{τ_j} λ(t) dt for all j, cyclic. The
//!   condition is necessary only, and needs a continuous λ.
//!
//! There are two methods. [`exhaustive`](self::search::exhaustive) tries the first two points on a
//! grid; the rest follows from the equation. [`refined`] starts from even points and moves each to
//! its best position between its neighbours. The second also handles λ in slots, whose best points
//! may lie on an edge, at which the equation does not hold.
//!
//! ```
//! use polling::budget::{curve::Curve, schedule};
//!
//! // Example 1: λ = 1 on [0, 1), 0 on [1, 2). One poll at the end of the busy half.
//! let curve = Curve::slots(&[1.0, 0.0], 2.0);
//! let points = schedule::best(&curve, 1);
//! assert!((points[0] - 1.0).abs() < 1e-9);
//! assert!((schedule::delay(&curve, &points) - 0.5).abs() < 1e-9);
//! assert_eq!(schedule::delay(&curve, &[0.0]), 1.5);
//! ```

pub mod curve;
pub mod refine;
pub mod search;

use self::curve::Curve;
use self::refine::{between, settled, wrap};

pub use self::refine::refined;

/// Half an hour of a day: the paper's grid.
pub const GRID: usize = 48;
/// The precision for live use: less than a tenth of a second of a day.
const CLOSE: f64 = 1e-6;
/// The precision for a million feeds: nine seconds of a day.
const NEAR: f64 = 1e-4;
/// Up to this many polls [`best`] is cheap enough for every feed.
const FEW: usize = 4;
/// Up to this many polls, points are added one by one.
const GROWN_MAX: usize = 24;
/// The most polls per period with points of their own; more are evenly spaced.
pub const POINTS_MAX: usize = 288;
/// The cells in which the density of many polls is summed.
const CELLS: usize = 480;

/// Returns the waiting per period of all entries, polled at the given points (cyclic).
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

/// Returns even points, shifted by `offset`.
pub fn even(curve: &Curve, m: usize, offset: f64) -> Vec<f64> {
    let gap = curve.period() / m as f64;
    (0..m).map(|j| offset + j as f64 * gap).collect()
}

/// Returns `m` good points. Up to one poll an hour, points are added one by one and all are
/// refined, so that one more poll never means more waiting. Beyond that, the density of polls
/// follows √λ, which is the optimum for many.
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

/// Returns `m` points whose waiting is within a few percent of that of [`best`], at a fraction of
/// the cost: they are refined once, not after each point.
pub fn near(curve: &Curve, m: usize) -> Vec<f64> {
    if m <= FEW {
        return best(curve, m);
    }
    if m > GROWN_MAX {
        return settled(curve, by_density(curve, m.min(POINTS_MAX)), NEAR);
    }
    let mut grown = Vec::new();
    while grown.len() < m {
        grown = with_one_more(curve, &grown);
    }
    let starts = [by_density(curve, grown.len()), grown];
    let schedules = starts.into_iter().map(|points| settled(curve, points, NEAR));
    least(curve, schedules).unwrap_or_default()
}

/// Adds one point, halfway between the two with most waiting.
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

/// Returns points with a density of √λ.
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

pub(in crate::budget) fn least(
    curve: &Curve,
    schedules: impl Iterator<Item = Vec<f64>>,
) -> Option<Vec<f64>> {
    schedules
        .map(|points| (delay(curve, &points), points))
        .filter(|(delay, _)| delay.is_finite())
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, points)| points)
}
