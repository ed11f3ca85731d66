//! The setting of the 2steps paper (Horincar, Amann and Artières 2010; source 001): 100 sources
//! publish in cycles, an aggregator with one query reads some of them.
//!
//! The paper leaves much open. The reading that explains its table best (R4): a cycle is publish,
//! choose, read, measure; λ uniform in [0, 6.5], each source's selectivity uniform in [0, 0.8],
//! each entry relevant with that probability; Div_A counts the *actual* unread relevant entries
//! in the window of ten; utility by the trapezoid rule; 100 cycles of warm-up, then 100 measured;
//! the query's result holds the last 1000 relevant entries read; a source that shows nothing
//! relevant is wholly fresh.
//!
//! The choices are `polling`'s own rules; here is only the world around them.

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
/// A(f, t): how many relevant entries the query's result shows.
const RESULT_SIZE: u64 = 1000;
/// τ starts anywhere; it has converged before anything is measured.
pub const TAU_START: f64 = 1.0;

/// The strategies that choose in cycles, in the order of the paper's table.
pub const STRATEGIES: [Strategy; 5] = [
    Strategy::TwoSteps,
    Strategy::OnlyTau,
    Strategy::TopKUtility,
    Strategy::OnlySat,
    Strategy::Uniform,
];

/// What all sources publish, cycle by cycle. One seed, one world, the same for every strategy.
#[derive(Clone, Debug)]
pub struct CycleWorld {
    published: Vec<[CyclePublication; SOURCES]>,
}

/// What came of one strategy in one world.
#[derive(Clone, Debug, PartialEq)]
pub struct CycleOutcome {
    /// C_F: relevant entries read of those published, over the measured cycles.
    pub completeness: f64,
    /// F_W: the mean over sources and cycles of the share of relevant entries shown that the
    /// query's result shows too.
    pub window_freshness: f64,
    /// Reads in the measured cycles.
    pub cost: u32,
    /// τ after every cycle, from the first on.
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

    /// Lets one strategy read `budget` sources a cycle; `None` for one that does not choose in
    /// cycles.
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

/// A source that nobody reads, cycle by cycle: the relevant entries that it published, and those
/// of them that its window still shows (figure 1 of the paper).
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
