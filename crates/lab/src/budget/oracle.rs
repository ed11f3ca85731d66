//! The strategies that choose by standings, told the truth: what is unread is counted, not
//! believed. The rules are `polling`'s own functions; only what they are given differs.

use feed::Time;
use polling::budget::top_k_utility::top_k_utility;
use polling::budget::two_steps::{Threshold, only_sat, only_tau, two_steps};
use polling::budget::uniform::RoundRobin;
use polling::budget::{FeedUrgency, Strategy};

use super::{BudgetSimulation, Member};

/// τ starts anywhere; this is one entry waiting an hour.
const TAU_START: f64 = 3600.0;

/// A strategy that chooses by standings.
pub(super) struct Oracle {
    strategy: Strategy,
    tau: Threshold,
    turn: RoundRobin,
}

impl Oracle {
    /// `None` for strategies that allocate: they need rates, not standings.
    pub(super) fn new(strategy: Strategy) -> Option<Oracle> {
        let chooses_by_standing = matches!(
            strategy,
            Strategy::Uniform
                | Strategy::OnlySat
                | Strategy::OnlyTau
                | Strategy::TopKUtility
                | Strategy::TwoSteps
        );
        let (tau, turn) = (Threshold::new(TAU_START), RoundRobin::default());
        chooses_by_standing.then_some(Oracle { strategy, tau, turn })
    }

    pub(super) fn choose(
        &mut self,
        simulation: &BudgetSimulation<'_>,
        now: Time,
        budget: usize,
    ) -> Vec<usize> {
        if self.strategy == Strategy::Uniform {
            return self.turn.take(simulation.members.len(), budget);
        }
        let standings: Vec<FeedUrgency> =
            simulation.members.iter().map(|member| simulation.standing(member, now)).collect();
        match self.strategy {
            Strategy::OnlySat => only_sat(&standings, budget),
            Strategy::OnlyTau => only_tau(&standings, budget, &mut self.tau),
            Strategy::TopKUtility => top_k_utility(&standings, budget),
            _ => two_steps(&standings, budget, &mut self.tau),
        }
    }
}

impl BudgetSimulation<'_> {
    /// Where a member really stands. U = ∫ (x − t_k) dDiv(x): each entry adds the time since the
    /// last look until it appeared; once the window is full one comes as another goes.
    fn standing(&self, member: &Member<'_>, now: Time) -> FeedUrgency {
        let feed = &self.world.feeds[member.feed];
        let (known, n_unseen) = (member.sight.shown().end, self.n_unseen(member, now));
        let window = member.sight.window_max() as usize;
        let until_full = &feed.visible()[known..known + n_unseen.min(window)];
        let waited = |t: &Time| t.millis_since(member.last) as f64 / 1000.0;
        FeedUrgency {
            divergence: feed.weight * n_unseen.min(window) as f64,
            saturated: n_unseen >= window,
            utility: feed.weight * until_full.iter().map(waited).sum::<f64>(),
        }
    }
}
