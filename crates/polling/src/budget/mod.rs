//! Budgets and strategies. A strategy decides which of the wanted polls are made now.
//!
//! One algorithm, one file. The rules of one cycle are functions of [`FeedUrgency`], so that the
//! lab can run them on the true values. The [`Planner`] runs every strategy on models, in the lab
//! and live. Pace, hints and errors are the caller's: it holds those feeds back.
//!
//! ```
//! use polling::budget::{Budget, Strategy};
//!
//! let budget: Budget = "1000/1h".parse().unwrap();
//! assert_eq!((budget.polls, Strategy::ALL.len()), (1000, 14));
//! ```

pub mod allocation;
pub mod allowance;
mod encoding;
mod learn_share;
mod limit;
mod planner;
mod poll_price;
pub mod schedule;
mod strategy;
mod tide;
pub mod tracked;

pub use allocation::{crawl_age, crawl_freshness, lambda_crawl, min_miss};
pub use learn_share::{LearnShare, LearnShareError};
pub use limit::{Budget, BudgetError};
pub(crate) use planner::plan_sentences;
pub use planner::{PlanCase, PlanWhy, Planner};
pub use poll_price::{PollCost, PollPrice, PriceError};
pub use schedule::{curve, refine, search};
pub use strategy::{Estimator, Miss, ProfileChoice, Spender, Strategy};
pub use strategy::{crossings, top_k_expected, top_k_utility, two_steps, uniform};
pub use tracked::{FeedUrgency, Tracked};

/// Returns at most `n` of `feeds`, the largest value first; ties go to the first.
fn largest(mut feeds: Vec<usize>, n: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let order = |a: &usize, b: &usize| value(*b).total_cmp(&value(*a)).then(a.cmp(b));
    if n == 0 {
        return Vec::new();
    }
    if n < feeds.len() {
        feeds.select_nth_unstable_by(n - 1, order);
        feeds.truncate(n);
    }
    feeds.sort_unstable_by(order);
    feeds
}
