//! The simulation behind table 2 of the 2steps paper (source 001), interpretation R4: 100 feeds,
//! Poisson entries, actual divergence, utility by the trapezoid rule. It has 100 cycles of warm-up
//! and measures 100.

use polling::budget::FeedUrgency;
use polling::budget::top_k_utility::top_k_utility;
use polling::budget::two_steps::{Threshold, only_sat, only_tau, two_steps};
use polling::budget::uniform::RoundRobin;

use crate::support::chance::Chance;

pub const FEEDS: usize = 100;
const WINDOW: usize = 10;
/// The bits of a window's entries.
const SHOWN: u64 = (1 << WINDOW) - 1;
const CYCLES: usize = 200;
const WARM_UP: usize = 100;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rule {
    TwoSteps,
    OnlyTau,
    TopK,
    OnlySat,
    Uniform,
}

/// One source: its relevant entries, and its state since the last read.
#[derive(Clone, Copy, Default)]
struct Source {
    /// One bit per entry of the window, the newest lowest.
    relevant: u16,
    n_new: u32,
    /// Cycles since the last read, and the trapezoid sum of the divergence over them.
    cycles: f64,
    divergence: f64,
    integral: f64,
}

/// The entries that a source publishes in one cycle: their number, and one bit for each relevant
/// one.
pub type Published = (u32, u32);

/// One world: random rates and selectivities, then the entries of all sources, cycle by cycle.
pub fn world(seed: u64) -> Vec<[Published; FEEDS]> {
    let mut chance = Chance::new(seed);
    let sources: [(f64, f64); FEEDS] =
        std::array::from_fn(|_| (6.5 * chance.unit(), 0.8 * chance.unit()));
    let mut cycle = || {
        sources.map(|(rate, selectivity)| {
            let n = chance.poisson(rate).min(31);
            let relevant = |bits, _| bits << 1 | u32::from(chance.unit() < selectivity);
            (n, (0..n).fold(0, relevant))
        })
    };
    (0..CYCLES).map(|_| cycle()).collect()
}

impl Source {
    fn publish(&mut self, (n, bits): Published) {
        self.relevant = ((u64::from(self.relevant) << n | u64::from(bits)) & SHOWN) as u16;
        self.n_new += n;
        let unread = (1_u16 << self.n_new.min(WINDOW as u32)) - 1;
        let divergence = f64::from((self.relevant & unread).count_ones());
        self.cycles += 1.0;
        self.integral += (self.divergence + divergence) / 2.0;
        self.divergence = divergence;
    }

    fn urgency(&self) -> FeedUrgency {
        FeedUrgency {
            divergence: self.divergence,
            saturated: self.n_new as usize >= WINDOW,
            utility: self.cycles * self.divergence - self.integral,
        }
    }

    fn read(&mut self) -> f64 {
        let found = self.divergence;
        (self.n_new, self.cycles, self.divergence, self.integral) = (0, 0.0, 0.0, 0.0);
        found
    }
}

/// Completeness and cost of one simulation, and τ after the warm-up.
pub fn simulate(
    rule: Rule,
    budget: usize,
    world: &[[Published; FEEDS]],
    tau: f64,
) -> (f64, usize, f64) {
    let mut sources = [Source::default(); FEEDS];
    let (mut tau, mut turn) = (Threshold::new(tau), RoundRobin::default());
    let (mut found, mut published, mut cost, mut warm) = (0.0, 0, 0, 0.0);
    for (cycle, entries) in world.iter().enumerate() {
        for (source, entries) in sources.iter_mut().zip(entries) {
            source.publish(*entries);
        }
        let urgencies = sources.map(|s| s.urgency());
        let chosen = match rule {
            Rule::TwoSteps => two_steps(&urgencies, budget, &mut tau),
            Rule::OnlyTau => only_tau(&urgencies, budget, &mut tau),
            Rule::TopK => top_k_utility(&urgencies, budget),
            Rule::OnlySat => only_sat(&urgencies, budget),
            Rule::Uniform => turn.take(FEEDS, budget),
        };
        let n_found: f64 = chosen.iter().map(|i| sources[*i].read()).sum();
        if cycle >= WARM_UP {
            found += n_found;
            published += entries.iter().map(|(_, bits)| bits.count_ones()).sum::<u32>();
            cost += chosen.len();
        } else {
            warm = tau.tau();
        }
    }
    (found / f64::from(published), cost, warm)
}
