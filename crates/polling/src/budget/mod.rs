//! What can we afford? A strategy decides which of the wanted polls are made now.
//!
//! One algorithm, one file. The rules of one cycle are functions of [`Standing`]s, so that the lab
//! can feed them the truth; [`Planner`] drives every strategy from models, in the lab and live. A
//! strategy knows nothing of pace, hints and errors: whoever asks holds those feeds back.
//!
//! ```
//! use polling::budget::{Budget, Strategy};
//!
//! let budget: Budget = "1000/1h".parse().unwrap();
//! assert_eq!((budget.polls, Strategy::ALL.len()), (1000, 13));
//! ```

pub mod allocation;
pub mod allowance;
pub mod crawl_age;
pub mod crawl_freshness;
mod credit;
pub mod crossings;
pub mod curve;
pub mod lambda_crawl;
mod limit;
pub mod looks;
mod marginals;
pub mod min_miss;
mod period;
mod planner;
mod progress;
pub mod refine;
mod rhythm;
mod running;
mod saturation;
pub mod schedule;
pub mod search;
mod spender;
mod stored;
mod strategy;
mod tide;
mod timetable;
pub mod top_k_utility;
pub mod tracked;
pub mod two_steps;
pub mod uniform;
mod why;
mod words;

pub use limit::{Budget, BudgetError};
pub use planner::Planner;
pub use spender::{Miss, Spender};
pub use strategy::{Estimator, Strategy};
pub use tracked::{Standing, Tracked};
pub use why::{Ground, PlanWhy};
pub(crate) use words::told;

/// At most `n` of `feeds`, those of the largest value first; of equal ones the first.
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
