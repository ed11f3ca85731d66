//! Iterative refinement of a schedule (Sia, Cho and Cho 2007, section 3.2.2; source 002): each
//! point in turn moves to its best position between its neighbours, until nothing moves.
//!
//! Between τ_{j−1} and τ_{j+1} the waiting is least where theorem 3 holds, λ(τ_j)·(τ_{j+1} − τ_j) =
//! ∫_{τ_{j−1}}^{τ_j} λ(t) dt, or on an edge of a slot, at which λ jumps. The result is a local
//! minimum; the caller chooses the start.
//!
//! ```
//! use polling::budget::{curve::Curve, refine::refined};
//!
//! // λ = 1 on [0, 1), 0 on [1, 2): the poll goes to the end of the busy half.
//! let points = refined(&Curve::slots(&[1.0, 0.0], 2.0), vec![0.7]);
//! assert!((points[0] - 1.0).abs() < 1e-9);
//! ```

use super::curve::Curve;
use crate::budget::allocation::marginals::rising_root;

/// The most sweeps over all points; they usually stop earlier.
const SWEEPS_MAX: usize = 20_000;
/// Moves smaller than this share of the period count as none.
const STILL: f64 = 1e-13;

/// Refines points until nothing moves.
pub fn refined(curve: &Curve, points: Vec<f64>) -> Vec<f64> {
    settled(curve, points, STILL)
}

/// Refines points until none moves by more than the share `still` of the period.
pub(in crate::budget) fn settled(curve: &Curve, mut points: Vec<f64>, still: f64) -> Vec<f64> {
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

/// Wraps points that drifted past the end of the period.
pub(in crate::budget) fn wrap(curve: &Curve, points: &mut [f64]) {
    points.iter_mut().for_each(|p| *p = p.rem_euclid(curve.period()));
    points.sort_by(f64::total_cmp);
}

/// Returns the position of one poll between two others with the least waiting; the old one if none
/// is better.
pub(in crate::budget) fn between(curve: &Curve, before: f64, old: f64, after: f64) -> f64 {
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

/// Solves theorem 3 for one point: Λ(before, t) − λ(t)·(after − t) rises from below to above zero.
fn slope_zero(curve: &Curve, before: f64, after: f64) -> f64 {
    let slope = |t: f64| curve.sum(t) - curve.sum(before) - curve.rate(t) * (after - t);
    rising_root(before, after, slope)
}
