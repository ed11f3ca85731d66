//! The simulation of the 2steps paper (Horincar, Amann and Artières 2010; source 001): 100 sources
//! publish in cycles, and an aggregator with one query reads some of them.
//!
//! The paper leaves much open. This is the interpretation that reproduces its table best (R4):
//!
//! - A cycle is publish, choose, read, measure.
//! - λ is uniform in [0, 6.5]. The selectivity of a source is uniform in [0, 0.8], and each entry
//!   is relevant with that probability.
//! - Div_A counts the *actual* unread relevant entries in the window of ten.
//! - Utility uses the trapezoid rule.
//! - 100 cycles of warm-up come before 100 measured cycles.
//! - The result of the query has the last 1000 relevant entries read.
//! - A source without relevant entries is completely fresh.
//!
//! The strategies are functions of `polling`; this module is the world around them.

mod source;
mod table;

use polling::budget::Strategy;
use polling::budget::top_k_utility::top_k_utility;
use polling::budget::two_steps::{Threshold, only_sat, only_tau, two_steps};
use polling::budget::uniform::RoundRobin;

use crate::Chance;
use source::{CyclePublication, CycleSource};
pub use table::{PaperCell, PaperFigure, table};

/// Table 1 of the paper.
pub const SOURCES: usize = 100;
pub const WARM_UP: usize = 100;
pub const MEASURED: usize = 100;
const RATE_MAX: f64 = 6.5;
const SELECTIVITY_MAX: f64 = 0.8;
/// A(f, t): the relevant entries that the result of the query shows.
const RESULT_SIZE: u64 = 1000;
/// τ may start anywhere. It converges before the measured cycles.
pub const TAU_START: f64 = 1.0;

/// The strategies that choose per cycle, in the order of the paper's table.
pub const STRATEGIES: [Strategy; 5] = [
    Strategy::TwoSteps,
    Strategy::OnlyTau,
    Strategy::TopKUtility,
    Strategy::OnlySat,
    Strategy::Uniform,
];

/// The publications of all sources in every cycle. One seed gives one world for every strategy.
#[derive(Clone, Debug)]
pub struct CycleWorld {
    published: Vec<[CyclePublication; SOURCES]>,
}

/// The result of one strategy in one world.
#[derive(Clone, Debug, PartialEq)]
pub struct CycleOutcome {
    /// C_F: the share of published relevant entries that were read, over the measured cycles.
    pub completeness: f64,
    /// F_W: the share of shown relevant entries that the result also shows, averaged over sources
    /// and cycles.
    pub window_freshness: f64,
    /// Reads in the measured cycles.
    pub cost: u32,
    /// τ after every cycle.
    pub taus: Vec<f64>,
}

impl CycleWorld {
    pub fn draw(seed: u64) -> CycleWorld {
        let mut chance = Chance::new(seed, 0);
        let sources: [(f64, f64); SOURCES] =
            std::array::from_fn(|_| (RATE_MAX * chance.unit(), SELECTIVITY_MAX * chance.unit()));
        let mut cycle = || {
            sources
                .map(|(rate, selectivity)| CyclePublication::draw(rate, selectivity, &mut chance))
        };
        CycleWorld { published: (0..WARM_UP + MEASURED).map(|_| cycle()).collect() }
    }

    /// Runs one strategy that reads `budget` sources per cycle; `None` for a strategy that does not
    /// choose per cycle.
    pub fn run(&self, strategy: Strategy, budget: usize, tau: f64) -> Option<CycleOutcome> {
        let mut sources: [CycleSource; SOURCES] = std::array::from_fn(|_| CycleSource::default());
        let (mut tau, mut turn) = (Threshold::new(tau), RoundRobin::default());
        let mut taus = Vec::with_capacity(self.published.len());
        let (mut n_read, mut found, mut published) = (0, 0, 0);
        let (mut fresh, mut cost) = (0.0, 0);
        for (number, cycle) in self.published.iter().enumerate() {
            for (source, published) in sources.iter_mut().zip(cycle) {
                source.publish(*published);
            }
            let standings = sources.each_ref().map(CycleSource::standing);
            let chosen = match strategy {
                Strategy::TwoSteps => two_steps(&standings, budget, &mut tau),
                Strategy::OnlyTau => only_tau(&standings, budget, &mut tau),
                Strategy::TopKUtility => top_k_utility(&standings, budget),
                Strategy::OnlySat => only_sat(&standings, budget),
                Strategy::Uniform => turn.take(SOURCES, budget),
                _ => return None,
            };
            let before = n_read;
            for source in &chosen {
                n_read = sources[*source].read(n_read);
            }
            taus.push(tau.tau());
            if number < WARM_UP {
                continue;
            }
            found += n_read - before;
            published += cycle.iter().map(CyclePublication::n_relevant).sum::<u64>();
            cost += chosen.len() as u32;
            let shown_from = n_read.saturating_sub(RESULT_SIZE);
            let each = sources.iter().map(|source| source.freshness(shown_from));
            fresh += each.sum::<f64>() / SOURCES as f64;
        }
        let completeness = found as f64 / published.max(1) as f64;
        Some(CycleOutcome { completeness, window_freshness: fresh / MEASURED as f64, cost, taus })
    }
}

/// Simulates a source that nobody reads. Returns, for each cycle, the relevant entries published so
/// far, and those that the window still shows (figure 1 of the paper).
pub fn left_unread(rate: f64, selectivity: f64, cycles: u32, seed: u64) -> Vec<(u64, u64)> {
    let mut chance = Chance::new(seed, 0);
    let (mut source, mut published) = (CycleSource::default(), 0);
    let mut cycle = |_| {
        let new = CyclePublication::draw(rate, selectivity, &mut chance);
        source.publish(new);
        published += new.n_relevant();
        (published, source.standing().divergence as u64)
    };
    (0..cycles).map(&mut cycle).collect()
}
