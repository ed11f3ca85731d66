//! Estimates the spending at a price: simulates a sample of feeds poll by poll as their models
//! predict. A domain counts for no more than its pace allows. No poll is made here.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // A feed without expected entries is hardly polled, even if polls are left.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.0));
//! planner.track(feed(0.001));
//! planner.set_budget(Some("6/1h".parse().unwrap()));
//! let mut polls = [0, 0];
//! for minute in 1..=600 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         polls[number] += 1;
//!         let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert!(polls[0] <= 1 && polls[1] > 50, "{polls:?}");
//! ```

use std::collections::BTreeMap;

use feed::Time;

use super::price::{ExpectedSpending, MOMENTS};
use super::{CycleBudget, TideStrategy, planned_poll};
use crate::budget::{Miss, Tracked};

/// Polls that are simulated one by one. Faster feeds are extrapolated by the root of their rate.
const POLLS_MAX: u32 = 8;

/// A sampled feed.
struct SampledFeed {
    feed: u32,
    /// The number of feeds that it represents.
    stands_for: f64,
    /// Its domain among those of the sample.
    group: Option<usize>,
}

/// The sampled feeds of one domain.
struct SampledDomain {
    polls_per_sec: f64,
    wanted: [ExpectedSpending; MOMENTS],
}

impl TideStrategy {
    /// Finds the price at which the expected spending uses up the budget.
    pub(super) fn adjust(&mut self, now: Time, budget: &CycleBudget, feeds: &[Tracked]) {
        let mut price = self.price;
        let (sample, mut groups) = self.sample();
        price.adjust(now, budget, |price| {
            let mut wanted = [ExpectedSpending::default(); MOMENTS];
            groups.iter_mut().for_each(|group| group.wanted = wanted);
            for asked in &sample {
                let tracked = &feeds[asked.feed as usize];
                let price = price * self.relative_price(asked.feed, tracked);
                let sums = asked.group.map_or(&mut wanted, |group| &mut groups[group].wanted);
                follow(tracked, (price, self.miss), now, budget, |moment, n| {
                    sums[moment].polls += asked.stands_for * n;
                    sums[moment].bytes += asked.stands_for * n * tracked.cost.max(0.0);
                });
            }
            groups.iter().for_each(|group| group.add_to(&mut wanted, budget));
            wanted
        });
        self.price = price;
    }

    /// Returns the sampled feeds and their domains.
    fn sample(&self) -> (Vec<SampledFeed>, Vec<SampledDomain>) {
        let roots = self.feeds.iter().enumerate();
        let roots = roots.filter_map(|(feed, known)| Some((feed as u32, known.part?.root)));
        let (mut numbers, mut groups) = (BTreeMap::new(), Vec::new());
        let ask = |(feed, stands_for): (u32, f64)| {
            let group = self.domains.paced(feed).map(|(number, n_feeds, gap)| {
                let group = *numbers.entry(number).or_insert(groups.len());
                if group == groups.len() {
                    groups.push(SampledDomain { polls_per_sec: 0.0, wanted: Default::default() });
                }
                // The number of such domains that the feed represents.
                let stands_for = stands_for / f64::from(n_feeds.max(1));
                groups[group].polls_per_sec += stands_for / gap.as_secs_f64().max(1e-3);
                group
            });
            SampledFeed { feed, stands_for, group }
        };
        (self.price.sample(roots).into_iter().map(ask).collect(), groups)
    }
}

impl SampledDomain {
    /// Adds the spending that the domain's pace allows.
    fn add_to(&self, wanted: &mut [ExpectedSpending; MOMENTS], budget: &CycleBudget) {
        for (moment, sum) in wanted.iter_mut().enumerate() {
            let ExpectedSpending { polls, bytes } = self.wanted[moment];
            let granted = self.polls_per_sec * budget.until(moment).as_secs_f64();
            let share = if polls > granted { granted / polls } else { 1.0 };
            *sum = ExpectedSpending {
                polls: sum.polls + share * polls,
                bytes: sum.bytes + share * bytes,
            };
        }
    }
}

/// Simulates a feed at a price and a price of a miss. Reports the number of its polls up to each
/// time.
fn follow(
    tracked: &Tracked,
    (price, miss): (f64, Miss),
    now: Time,
    budget: &CycleBudget,
    mut tell: impl FnMut(usize, f64),
) {
    let (mut n, mut first, mut last) = (0, None, tracked.last);
    for moment in 0..MOMENTS {
        let until = now + budget.until(moment);
        while n < POLLS_MAX {
            let at = last.map_or(Some(now), |last| {
                planned_poll(tracked, last, price, miss).map(|(at, _)| at)
            });
            let Some(at) = at.map(|at| at.max(now)).filter(|at| *at < until) else { break };
            (n, first, last) = (n + 1, first.or(Some(at)), Some(at));
        }
        let beyond = match (first, last) {
            (Some(first), Some(last)) if n == POLLS_MAX && last < until => {
                // Polls are proportional to the root of the rate.
                let (gone, to_come) = (roots(tracked, first, last), roots(tracked, last, until));
                if gone > 0.0 { f64::from(n - 1) * to_come / gone } else { 0.0 }
            }
            _ => 0.0,
        };
        tell(moment, f64::from(n) + beyond);
    }
}

/// Returns ∫ √λ between two times.
fn roots(tracked: &Tracked, from: Time, to: Time) -> f64 {
    let Some(repeating_rate) = tracked.believed().repeating_rate() else { return 0.0 };
    let mut at = from.shifted(repeating_rate.shift_ms).millis();
    let to = to.shifted(repeating_rate.shift_ms).millis();
    let (slot_ms, n_slots) = (repeating_rate.slot_ms, repeating_rate.rates.len() as i64);
    let mut sum = 0.0;
    while at < to {
        let slot = at.div_euclid(slot_ms);
        let end = ((slot + 1) * slot_ms).min(to);
        sum += (end - at) as f64
            * repeating_rate.rates[slot.rem_euclid(n_slots) as usize].max(0.0).sqrt();
        at = end;
    }
    sum
}
