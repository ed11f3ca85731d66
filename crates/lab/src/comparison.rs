//! Several policies over one world: each run with its quality among the others.

use crate::quality::{ModeWeights, Norm, Quality, Weights, over_both_modes, quality};
use crate::{Averages, Run};

/// The runs of one comparison, and the quality of each, in the same order.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub runs: Vec<Run>,
    pub by_feed: Vec<Quality>,
    pub by_entry: Vec<Quality>,
    /// Over both modes.
    pub both: Vec<Option<f64>>,
}

impl Comparison {
    pub fn of(runs: Vec<Run>, weights: Weights, mode_weights: ModeWeights) -> Comparison {
        let rows = |mode: fn(&Run) -> Averages| runs.iter().map(mode).collect::<Vec<_>>();
        let by_feed = quality(&rows(|run| run.by_feed), weights, Norm::Best);
        let by_entry = quality(&rows(|run| run.by_entry), weights, Norm::Best);
        let modes = by_feed.iter().zip(&by_entry).map(|(f, e)| (f.quality, e.quality));
        let both = over_both_modes(&modes.collect::<Vec<_>>(), mode_weights, Norm::Best);
        Comparison { runs, by_feed, by_entry, both }
    }
}
