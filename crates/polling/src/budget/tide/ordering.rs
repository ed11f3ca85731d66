//! Moves feeds through the queue: ordered far from their due time, near it, due, taken. A rising
//! price is applied here, a falling one in the plan.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // Two equal feeds alternate: neither is ever two polls ahead of the other.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.001));
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
//! assert!(i32::abs(polls[0] - polls[1]) <= 1, "{polls:?}");
//! ```

use feed::Time;

use super::domain_prices::DeferredState;
use super::{CycleBudget, TideStrategy, due};
use crate::budget::Tracked;

/// The shares of the price by which feeds are ordered, far from and near their due time. The price
/// may fall to that share before they are reordered.
const FAR: f64 = 0.7;
const NEAR: f64 = 0.94;
/// A feed goes first if this share of its window is expected to be new. It then counts as overdue
/// by more than the longest interval.
const FULL: f64 = 0.3;
const HEAD_START_MS: i64 = 29 * 86_400_000;
/// A smaller change of the price is ignored.
pub(super) const DRIFT: f64 = 0.02;

impl TideStrategy {
    /// Orders a feed far from its due time.
    pub(super) fn wait(&mut self, feed: u32, tracked: &Tracked) {
        let at = due(tracked, FAR * self.price_of(feed, tracked), self.miss);
        self.queue.wait(feed, at, FAR * self.price.now());
    }

    /// Marks a feed as due at the current price, or orders it near its due time.
    pub(super) fn advance(&mut self, feed: u32, tracked: &Tracked, now: Time) {
        let price = self.price_of(feed, tracked);
        let at = due(tracked, price, self.miss);
        if at <= now {
            self.feed_mut(feed).priced = price;
            let at = if is_full(tracked, now) { at.shifted(-HEAD_START_MS) } else { at };
            return self.queue.mark_due(feed, at);
        }
        // An interval is roughly proportional to the root of its price.
        let since = |last: Time| (at.millis_since(last) as f64 * NEAR.sqrt()) as i64;
        let near = tracked.last.map_or(at, |last| last.shifted(since(last)));
        if near > now {
            self.queue.wait(feed, near, NEAR * self.price.now());
        } else {
            self.queue.wait(feed, at, self.price.now());
        }
    }

    /// Takes as many due feeds as the budget allows: first those whose windows fill, then the
    /// longest overdue. Polls that would expire go to the feeds that are due next.
    pub(super) fn take(
        &mut self,
        now: Time,
        budget: &CycleBudget,
        feeds: &[Tracked],
    ) -> Vec<usize> {
        let (mut chosen, mut bytes) = (Vec::new(), budget.bytes);
        while chosen.len() < budget.polls && bytes > 0.0 {
            let early = chosen.len() < budget.expiring;
            let due = self.queue.first();
            let next = if early { due.or_else(|| self.queue.next(now)) } else { due };
            let Some(due @ (at, feed, _)) = next else { break };
            let tracked = &feeds[feed as usize];
            let moved = self.price_of(feed, tracked) / self.feeds[feed as usize].priced;
            if at <= now && moved > 1.0 + DRIFT {
                self.advance(feed, tracked, now);
            } else if self.domains.take(due, now, budget.cycle) {
                bytes -= tracked.cost.max(0.0);
                chosen.push(feed as usize);
            }
        }
        chosen.iter().for_each(|feed| self.queue.remove(*feed as u32));
        chosen
    }

    /// Adjusts the prices of domains that are short of polls.
    pub(super) fn adapt_domains(&mut self, now: Time, feeds: &[Tracked]) {
        let TideStrategy { price, domains, queue, feeds: known, .. } = self;
        domains.adapt(|due, markup| {
            let (at, feed, _) = *due;
            let tracked = &feeds[feed as usize];
            let Some(last) = tracked.last else { return DeferredState::NotDue };
            if !queue.is_fresh(due) {
                return DeferredState::Stale;
            }
            let relative = price.relative_cost(tracked.cost) * markup / tracked.value();
            let moved = price.now() * relative / known[feed as usize].priced;
            let at = if at < last { at.shifted(HEAD_START_MS) } else { at };
            // An interval is roughly proportional to the root of its price.
            let ms = at.millis_since(last) as f64 * moved.sqrt();
            if last.shifted(ms as i64) <= now { DeferredState::Due } else { DeferredState::NotDue }
        });
    }
}

/// Returns whether entries may soon be lost: they come in bursts.
fn is_full(tracked: &Tracked, now: Time) -> bool {
    let expected = |last| tracked.believed().expect(last, now);
    tracked.last.is_some_and(|last| expected(last) >= FULL * f64::from(tracked.window))
}
