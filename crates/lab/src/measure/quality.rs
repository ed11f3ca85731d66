//! Quality (Güte): delay, polls per entry and recall as one figure (dissertation 003, section
//! 4.3.4).
//!
//! Each value is normalised to the best of the comparison: D̂ = min D / D, APÊ = min APE / APE, R̂
//! = R / max R. G is their weighted geometric mean, and Ĝ = G / max G. The quality over both modes
//! is the geometric mean of the two Ĝ, normalised again. Half the delay at twice the polls has the
//! same G. Another policy does not change the order or the ratios of the others.
//!
//! With a named baseline instead of the best, values of different comparisons are comparable.
//!
//! ```
//! use lab::Averages;
//! use lab::measure::quality::{Norm, Weights, quality};
//!
//! // Table 4.4: 3 min with 3.2 polls an entry is as good as 6 min with 1.6.
//! let row = |delay, ape, recall| Averages {
//!     delay: Some(delay), polls_per_entry: Some(ape), recall: Some(recall),
//! };
//! let rows = [row(200.0, 1.2, 0.98), row(3.0, 3.2, 0.98), row(6.0, 1.6, 0.98)];
//! let g = quality(&rows, Weights::default(), Norm::Best);
//! let shown: Vec<String> = g.iter().map(|q| format!("{:.3}", q.quality.unwrap())).collect();
//! assert_eq!(shown, ["0.342", "1.000", "1.000"]);
//! ```

use crate::Averages;

/// The weights of the three values; 1 each by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    pub delay: f64,
    pub polls_per_entry: f64,
    pub recall: f64,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights { delay: 1.0, polls_per_entry: 1.0, recall: 1.0 }
    }
}

/// The weights of the two modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeWeights {
    pub feeds: f64,
    pub entries: f64,
}

impl Default for ModeWeights {
    fn default() -> ModeWeights {
        ModeWeights { feeds: 1.0, entries: 1.0 }
    }
}

/// The reference for normalising.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// The best of the comparison.
    Best,
    /// The row of this number.
    Baseline(usize),
}

/// The normalised values of one policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    pub delay: Option<f64>,
    pub polls_per_entry: Option<f64>,
    pub recall: Option<f64>,
    /// Ĝ.
    pub quality: Option<f64>,
}

/// Returns the quality of each row; undefined if one of its three values is.
pub fn quality(rows: &[Averages], weights: Weights, norm: Norm) -> Vec<Quality> {
    let delays = small_is_good(&rows.iter().map(|r| r.delay).collect::<Vec<_>>(), norm);
    let costs = small_is_good(&rows.iter().map(|r| r.polls_per_entry).collect::<Vec<_>>(), norm);
    let recalls = large_is_good(&rows.iter().map(|r| r.recall).collect::<Vec<_>>(), norm);
    let mut all: Vec<Quality> = Vec::with_capacity(rows.len());
    for i in 0..rows.len() {
        let parts = [
            (delays[i], weights.delay),
            (costs[i], weights.polls_per_entry),
            (recalls[i], weights.recall),
        ];
        let quality = geometric_mean(&parts);
        all.push(Quality {
            delay: delays[i],
            polls_per_entry: costs[i],
            recall: recalls[i],
            quality,
        });
    }
    let normalised = large_is_good(&all.iter().map(|q| q.quality).collect::<Vec<_>>(), norm);
    for (row, quality) in all.iter_mut().zip(normalised) {
        row.quality = quality;
    }
    all
}

/// Returns the quality over both modes from the Ĝ of each, normalised again.
pub fn over_both_modes(
    modes: &[(Option<f64>, Option<f64>)],
    weights: ModeWeights,
    norm: Norm,
) -> Vec<Option<f64>> {
    let both = modes.iter().map(|(feeds, entries)| {
        geometric_mean(&[(*feeds, weights.feeds), (*entries, weights.entries)])
    });
    large_is_good(&both.collect::<Vec<_>>(), norm)
}

/// Returns (Π xᵢ^wᵢ)^(1/Σw). A value with weight zero may be undefined.
fn geometric_mean(parts: &[(Option<f64>, f64)]) -> Option<f64> {
    let total: f64 = parts.iter().map(|(_, weight)| weight).sum();
    let mut product = 1.0;
    for (value, weight) in parts.iter().filter(|(_, weight)| *weight != 0.0) {
        product *= (*value)?.powf(weight / total);
    }
    Some(product)
}

fn small_is_good(values: &[Option<f64>], norm: Norm) -> Vec<Option<f64>> {
    normalised(values, norm, f64::min, |value, best| best / value)
}

fn large_is_good(values: &[Option<f64>], norm: Norm) -> Vec<Option<f64>> {
    normalised(values, norm, f64::max, |value, best| value / best)
}

fn normalised(
    values: &[Option<f64>],
    norm: Norm,
    better: fn(f64, f64) -> f64,
    share: fn(f64, f64) -> f64,
) -> Vec<Option<f64>> {
    let best = match norm {
        Norm::Best => values.iter().copied().flatten().reduce(better),
        Norm::Baseline(row) => values.get(row).copied().flatten(),
    };
    let one = |value: f64| best.map(|best| if value == best { 1.0 } else { share(value, best) });
    values.iter().map(|value| value.and_then(one).filter(|x| x.is_finite())).collect()
}
