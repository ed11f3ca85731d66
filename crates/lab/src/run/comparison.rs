//! Several policies over one world, each with its quality compared to the others.

use crate::measure::quality::{ModeWeights, Norm, Quality, Weights, over_both_modes, quality};
use crate::{Averages, PolicyRun};

/// The runs of one comparison, and the quality of each, in the same order.
#[derive(Clone, Debug)]
pub struct PolicyComparison {
    pub runs: Vec<PolicyRun>,
    pub by_feed: Vec<Quality>,
    pub by_entry: Vec<Quality>,
    /// Over both modes.
    pub both: Vec<Option<f64>>,
}

impl PolicyComparison {
    pub fn of(
        runs: Vec<PolicyRun>,
        weights: Weights,
        mode_weights: ModeWeights,
    ) -> PolicyComparison {
        let rows = |mode: fn(&PolicyRun) -> Averages| runs.iter().map(mode).collect::<Vec<_>>();
        let by_feed = quality(&rows(|run| run.by_feed), weights, Norm::Best);
        let by_entry = quality(&rows(|run| run.by_entry), weights, Norm::Best);
        let modes = by_feed.iter().zip(&by_entry).map(|(f, e)| (f.quality, e.quality));
        let both = over_both_modes(&modes.collect::<Vec<_>>(), mode_weights, Norm::Best);
        PolicyComparison { runs, by_feed, by_entry, both }
    }
}
