//! Table 2 of the 2steps paper: our result over many seeds, and the published one, which is a
//! single run.

use polling::budget::Strategy;

use super::{CycleOutcome, CycleWorld, STRATEGIES, TAU_START};
use crate::parallel;

/// A figure of the table: the mean and standard deviation over our seeds, and the published value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperFigure {
    pub mean: f64,
    pub sd: f64,
    pub published: f64,
}

/// One strategy under one budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperCell {
    pub strategy: Strategy,
    pub budget: usize,
    pub completeness: PaperFigure,
    pub window_freshness: PaperFigure,
    pub cost: PaperFigure,
}

const BUDGETS: [usize; 3] = [10, 30, 50];

/// The printed values: completeness, window freshness and cost for budgets of 10, 30 and 50.
const PUBLISHED: [[[f64; 3]; 3]; 5] = [
    [[0.4954, 0.3671, 1000.0], [0.8691, 0.7279, 2854.0], [0.9781, 0.8762, 4700.0]],
    [[0.4252, 0.4197, 982.0], [0.8524, 0.7048, 2860.0], [0.9759, 0.8731, 4762.0]],
    [[0.4160, 0.4220, 1000.0], [0.8671, 0.7200, 3000.0], [0.9793, 0.8868, 5000.0]],
    [[0.4934, 0.3671, 1000.0], [0.8082, 0.6590, 2516.0], [0.8091, 0.6625, 2524.0]],
    [[0.2682, 0.3620, 1000.0], [0.6625, 0.6398, 3000.0], [0.8871, 0.7863, 5000.0]],
];

impl PaperFigure {
    fn of(values: &[f64], published: f64) -> PaperFigure {
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        PaperFigure { mean, sd: variance.sqrt(), published }
    }

    /// Returns the distance of the published figure from our mean, in standard deviations of one
    /// run. Returns zero if both are equal, and `None` if only our standard deviation is zero.
    pub fn distance(&self) -> Option<f64> {
        let off = (self.published - self.mean).abs();
        if off == 0.0 {
            return Some(0.0);
        }
        (self.sd > 0.0).then(|| off / self.sd)
    }
}

/// Simulates every cell of the table with this many seeds.
pub fn table(seeds: u64, threads: usize) -> Vec<PaperCell> {
    let seeds = usize::try_from(seeds).unwrap_or(usize::MAX);
    let (outcomes, _) = parallel::map_batched(seeds, threads, |seed, _: &mut ()| {
        let world = CycleWorld::draw(seed as u64);
        let run = |strategy, budget| world.run(strategy, budget, TAU_START);
        STRATEGIES.map(|strategy| BUDGETS.map(|budget| run(strategy, budget)))
    });
    let mut cells = Vec::new();
    for (b, budget) in BUDGETS.into_iter().enumerate() {
        for (s, strategy) in STRATEGIES.into_iter().enumerate() {
            let figure = |column: usize, of: fn(&CycleOutcome) -> f64| {
                let values = outcomes.iter().filter_map(|o| o[s][b].as_ref().map(of));
                PaperFigure::of(&values.collect::<Vec<_>>(), PUBLISHED[s][b][column])
            };
            cells.push(PaperCell {
                strategy,
                budget,
                completeness: figure(0, |o| o.completeness),
                window_freshness: figure(1, |o| o.window_freshness),
                cost: figure(2, |o| o.cost.into()),
            });
        }
    }
    cells
}
