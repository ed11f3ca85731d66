//! `two-steps`, `only-sat`, `only-tau` — saturated feeds first, then those whose utility passes a
//! threshold that adapts to the budget (Horincar, Amann and Artières 2010, algorithm 1; source
//! 001).
//!
//! Each cycle with budget b:
//! 1. R = the top b saturated feeds by Div_A > 0; b_sat = |R|;
//! 2. if b_sat < b: every unsaturated feed with U ≥ b/(b − b_sat)·τ joins R, without a cap.
//!
//! Then b' = |R|: b' > b → τ·1.05; b' < 0.9·b → τ·0.95; else τ stays. It converges from any start.
//! `only-sat` is step 1 alone. `only-tau` is step 2 alone, over all feeds: otherwise a saturated
//! one would never be polled.
//!
//! ```
//! use polling::budget::FeedUrgency;
//! use polling::budget::two_steps::{Threshold, two_steps};
//!
//! let feeds = [
//!     FeedUrgency { divergence: 10.0, saturated: true, utility: 0.0 },
//!     FeedUrgency { divergence: 2.0, saturated: false, utility: 5.0 },
//!     FeedUrgency { divergence: 1.0, saturated: false, utility: 0.5 },
//! ];
//! let mut tau = Threshold::new(1.0);
//! // One of two polls goes to the saturated feed, so the bar is 2/(2 − 1)·τ = 2.
//! assert_eq!(two_steps(&feeds, 2, &mut tau), [0, 1]);
//! ```

use crate::budget::FeedUrgency;

const FALL: f64 = 0.95;
const RISE: f64 = 1.05;
const FILL: f64 = 0.9;
/// τ stays a normal number through any run of empty or full cycles.
const TAU: (f64, f64) = (1e-12, 1e15);

/// The adaptive threshold τ, in entry-seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    tau: f64,
}

impl Threshold {
    pub fn new(tau: f64) -> Threshold {
        Threshold { tau: if tau.is_finite() { tau.clamp(TAU.0, TAU.1) } else { 1.0 } }
    }

    pub fn tau(self) -> f64 {
        self.tau
    }

    /// Returns the bar of step 2: b/(b − b_sat)·τ. `None` if step 1 spent the budget.
    pub fn bar(self, budget: usize, n_saturated: usize) -> Option<f64> {
        (n_saturated < budget).then(|| budget as f64 / (budget - n_saturated) as f64 * self.tau)
    }

    /// Adapts τ to the number of polls.
    pub fn adapt(&mut self, budget: usize, n_polls: usize) {
        if n_polls > budget {
            self.tau = (self.tau * RISE).min(TAU.1);
        } else if (n_polls as f64) < FILL * budget as f64 {
            self.tau = (self.tau * FALL).max(TAU.0);
        }
    }
}

/// Algorithm 1. Returns the saturated feeds by divergence, then the others by number.
pub fn two_steps(feeds: &[FeedUrgency], budget: usize, tau: &mut Threshold) -> Vec<usize> {
    let mut chosen = only_sat(feeds, budget);
    if let Some(bar) = tau.bar(budget, chosen.len()) {
        let over = |(_, s): &(usize, &FeedUrgency)| !s.saturated && s.utility >= bar;
        chosen.extend(feeds.iter().enumerate().filter(over).map(|(i, _)| i));
    }
    tau.adapt(budget, chosen.len());
    chosen
}

/// Step 1 alone. Returns at most `budget` saturated feeds, the largest divergence first.
pub fn only_sat(feeds: &[FeedUrgency], budget: usize) -> Vec<usize> {
    let saturated = (0..feeds.len()).filter(|i| feeds[*i].saturated && feeds[*i].divergence > 0.0);
    crate::budget::largest(saturated.collect(), budget, |i| feeds[i].divergence)
}

/// Step 2 alone. Returns every feed whose utility reaches τ.
pub fn only_tau(feeds: &[FeedUrgency], budget: usize, tau: &mut Threshold) -> Vec<usize> {
    let bar = tau.tau();
    let chosen: Vec<usize> = (0..feeds.len()).filter(|i| feeds[*i].utility >= bar).collect();
    tau.adapt(budget, chosen.len());
    chosen
}
