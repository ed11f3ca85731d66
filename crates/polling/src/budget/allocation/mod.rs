//! Allocates polls per day to every feed with the strategy's allocator: theorem 1, the crawler
//! policies, `min-miss` or `lambda-crawl`.
//!
//! A feed whose model saw no entry counts as λ = 0.5 per 14 days ([`Tracked::believed`]). If bytes
//! are limited too, `min-delay` finds the optimum under both limits. The other allocators do not
//! know costs: their polls are scaled down until the bytes suffice.
//!
//! Plans poll a feed at most once a cycle. Polls beyond that go to other feeds
//! ([`per_day_at_most`]): with the capped ones at their cap, equal marginals of the rest are the
//! optimum under that cap.
//!
//! ```
//! use polling::budget::{Planner, Strategy, Tracked, allocation::{DailyLimits, per_day}};
//! use polling::model::{Model, homogeneous::Homogeneous};
//!
//! let rate = |rate| Tracked::new(Model::Homogeneous(Homogeneous { rate }));
//! let feeds = [rate(0.001), rate(0.004)];
//! let limits = DailyLimits { polls: 6.0, bytes: None };
//! let polls = per_day(Strategy::MinDelayAllocation, &feeds, limits);
//! assert!((polls[0] - 2.0).abs() < 1e-12 && (polls[1] - 4.0).abs() < 1e-12);
//! ```

pub mod crawl_age;
pub mod crawl_freshness;
pub mod lambda_crawl;
pub(super) mod marginals;
mod min_delay;
pub mod min_miss;

use self::min_miss::WindowDemand;
use crate::budget::{Strategy, Tracked};

pub use min_delay::{Demand, delay, min_delay, min_delay_within, whole};

const DAY_SECS: f64 = 86_400.0;

/// The limits of one day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DailyLimits {
    pub polls: f64,
    pub bytes: Option<f64>,
}

/// Rounds in which feeds are capped. Each round can only cap more feeds; two are rare.
const ROUNDS: usize = 8;

/// Returns polls per day for each feed, within the limits.
pub fn per_day(strategy: Strategy, feeds: &[Tracked], limits: DailyLimits) -> Vec<f64> {
    shared(strategy, feeds, limits, |_| true)
}

/// Returns the same with at most `most` polls for each feed. It spends less than the limits only if
/// every feed that counts has that many.
pub fn per_day_at_most(
    strategy: Strategy,
    feeds: &[Tracked],
    limits: DailyLimits,
    most: f64,
) -> Vec<f64> {
    let mut capped = vec![false; feeds.len()];
    let (mut left, mut polls) = (limits, per_day(strategy, feeds, limits));
    for _ in 0..ROUNDS {
        let over: Vec<usize> = (0..feeds.len()).filter(|i| polls[*i] > most).collect();
        if over.is_empty() {
            break;
        }
        for i in over {
            capped[i] = true;
            left.polls -= most;
            left.bytes = left.bytes.map(|bytes| bytes - feeds[i].cost * most);
        }
        polls = shared(strategy, feeds, left, |i| !capped[i]);
        (0..feeds.len()).filter(|i| capped[*i]).for_each(|i| polls[i] = most);
    }
    polls.iter_mut().for_each(|m| *m = m.min(most));
    polls
}

/// Shares the limits among the feeds that are `open`.
fn shared(
    strategy: Strategy,
    feeds: &[Tracked],
    limits: DailyLimits,
    open: impl Fn(usize) -> bool,
) -> Vec<f64> {
    let value = |i: usize| if open(i) { feeds[i].value() } else { 0.0 };
    let numbered = || feeds.iter().enumerate();
    let demand = |cost: fn(&Tracked) -> f64| -> Vec<Demand> {
        let one = |(i, f)| Demand { rate: rate(f), weight: value(i), cost: cost(f) };
        numbered().map(one).collect()
    };
    let demands = || demand(|_| 1.0);
    let mut polls = match strategy {
        Strategy::MinDelay | Strategy::MinDelayAllocation => match limits.bytes {
            Some(bytes) => min_delay_within(&demand(|f| f.cost), limits.polls, bytes),
            None => min_delay(&demands(), limits.polls),
        },
        Strategy::MinMiss => {
            let shown = |(i, f): (_, &Tracked)| WindowDemand {
                rate: rate(f),
                weight: value(i),
                window: f.window,
            };
            min_miss::polls(&numbered().map(shown).collect::<Vec<_>>(), limits.polls)
        }
        Strategy::CrawlFreshness => crawl_freshness::polls(&demands(), limits.polls),
        Strategy::CrawlAge => crawl_age::polls(&demands(), limits.polls),
        Strategy::LambdaCrawl => lambda_crawl::polls(&demands(), limits.polls),
        Strategy::MinDelaySchedule
        | Strategy::Uniform
        | Strategy::OnlySat
        | Strategy::OnlyTau
        | Strategy::TopKUtility
        | Strategy::TopKExpected
        | Strategy::TwoSteps
        | Strategy::Tide => evenly(feeds.len(), limits.polls, value),
    };
    if let Some(bytes) = limits.bytes {
        let spent: f64 = feeds.iter().zip(&polls).map(|(f, m)| f.cost * m).sum();
        if spent > bytes {
            polls.iter_mut().for_each(|m| *m *= bytes.max(0.0) / spent);
        }
    }
    polls
}

/// Returns the number of points of the day of each feed, or `None` for even spacing. A feed with
/// less than one poll a day has one point.
pub(crate) fn points(strategy: Strategy, polls: &[f64]) -> Option<Vec<u32>> {
    let scheduled = matches!(strategy, Strategy::MinDelay | Strategy::MinDelaySchedule);
    scheduled.then(|| {
        let often: Vec<f64> = polls.iter().map(|m| if *m >= 1.0 { *m } else { 0.0 }).collect();
        whole(&often).into_iter().map(|m| m.max(1)).collect()
    })
}

fn rate(feed: &Tracked) -> f64 {
    feed.believed().mean_rate() * DAY_SECS
}

/// Returns the same number of polls for every feed with a value.
fn evenly(n: usize, polls: f64, value: impl Fn(usize) -> f64) -> Vec<f64> {
    let counts = |i: usize| f64::from(u8::from(value(i) > 0.0));
    let sum: f64 = (0..n).map(counts).sum();
    let each = if sum > 0.0 { polls.max(0.0) / sum } else { 0.0 };
    (0..n).map(|i| counts(i) * each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, homogeneous::Homogeneous};

    #[test]
    fn no_allocator_exceeds_the_polls_or_the_bytes() {
        let feeds: Vec<Tracked> = (0..20)
            .map(|i| {
                let model = Model::Homogeneous(Homogeneous { rate: f64::from(i) * 1e-5 });
                let cost = 1000.0 * f64::from(1 + i % 7);
                Tracked { cost, weight: f64::from(i % 4), ..Tracked::new(model) }
            })
            .collect();
        for strategy in Strategy::ALL {
            for bytes in [None, Some(1e4), Some(1e12)] {
                let limits = DailyLimits { polls: 50.0, bytes };
                let polls = per_day(strategy, &feeds, limits);
                let size: f64 = feeds.iter().zip(&polls).map(|(f, m)| f.cost * m).sum();
                assert!(polls.iter().sum::<f64>() <= 50.0 * (1.0 + 1e-9), "{strategy}");
                assert!(size <= bytes.unwrap_or(f64::MAX) * (1.0 + 1e-9), "{strategy} {size}");
                assert!(polls.iter().step_by(4).all(|m| *m == 0.0), "{strategy}: no weight");
            }
        }
    }

    #[test]
    fn what_a_cap_takes_from_one_goes_to_the_others() {
        let feed = |rate| Tracked::new(Model::Homogeneous(Homogeneous { rate }));
        let feeds: Vec<Tracked> = (0..12).map(|i| feed(3.0_f64.powi(i) * 1e-8)).collect();
        let limits = DailyLimits { polls: 600.0, bytes: None };
        for strategy in Strategy::ALL {
            for most in [60.0, 100.0, 1e9] {
                let polls = per_day_at_most(strategy, &feeds, limits, most);
                let spent: f64 = polls.iter().sum();
                assert!((spent / 600.0 - 1.0).abs() < 1e-6, "{strategy} {most}: {spent}");
                assert!(polls.iter().all(|m| (0.0..=most).contains(m)), "{strategy} {polls:?}");
            }
            let polls = per_day_at_most(strategy, &feeds, limits, 10.0);
            assert!(polls.iter().sum::<f64>() <= 120.0, "{strategy}: all have all they can");
        }
    }
}
