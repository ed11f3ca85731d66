//! An oracle for the strategies that choose by urgency: it counts unread entries instead of
//! estimating them. The strategies are functions of `polling`.

use feed::Time;
use polling::budget::top_k_expected::{Expected, top_k_expected};
use polling::budget::top_k_utility::top_k_utility;
use polling::budget::two_steps::{Threshold, only_sat, only_tau, two_steps};
use polling::budget::uniform::RoundRobin;
use polling::budget::{FeedUrgency, Strategy};

use super::{BudgetSimulation, Member};

/// τ may start anywhere. This value is one entry that waits an hour.
const TAU_START: f64 = 3600.0;

/// A strategy that chooses by urgency.
pub(super) struct Oracle {
    strategy: Strategy,
    tau: Threshold,
    turn: RoundRobin,
}

impl Oracle {
    /// Returns `None` for strategies that allocate: they need rates, not urgencies.
    pub(super) fn new(strategy: Strategy) -> Option<Oracle> {
        let chooses_by_standing = matches!(
            strategy,
            Strategy::Uniform
                | Strategy::OnlySat
                | Strategy::OnlyTau
                | Strategy::TopKUtility
                | Strategy::TopKExpected
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
            Strategy::TopKExpected => {
                let expected = |member: &Member<'_>| Expected {
                    entries: simulation.n_unseen(member, now) as f64,
                    readers: simulation.world.feeds[member.feed].weight,
                };
                let expected: Vec<Expected> = simulation.members.iter().map(expected).collect();
                top_k_expected(&expected, budget)
            }
            _ => two_steps(&standings, budget, &mut self.tau),
        }
    }
}

impl BudgetSimulation<'_> {
    /// Returns the true urgency of a feed. U = ∫ (x − t_k) dDiv(x): each entry adds the time from
    /// the last poll to its appearance, until the window is full.
    fn standing(&self, member: &Member<'_>, now: Time) -> FeedUrgency {
        let feed = &self.world.feeds[member.feed];
        let (known, n_unseen) = (member.polled.shown().end, self.n_unseen(member, now));
        let window = member.polled.window_max() as usize;
        let until_full = &feed.visible()[known..known + n_unseen.min(window)];
        let waited = |t: &Time| t.millis_since(member.last) as f64 / 1000.0;
        FeedUrgency {
            divergence: feed.weight * n_unseen.min(window) as f64,
            saturated: n_unseen >= window,
            utility: feed.weight * until_full.iter().map(waited).sum::<f64>(),
        }
    }
}
