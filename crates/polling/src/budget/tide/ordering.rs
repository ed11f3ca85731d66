//! How a feed comes to its turn: ordered far from its moment, near it, lined up, taken. A price
//! that rises is heeded here; one that falls, in the plan.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // Feeds alike take turns: neither is ever two looks ahead of the other.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.001));
//! planner.track(feed(0.001));
//! planner.set_budget(Some("6/1h".parse().unwrap()));
//! let mut looks = [0, 0];
//! for minute in 1..=600 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         looks[number] += 1;
//!         let seen = Tracked { last: Some(now), ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert!(i32::abs(looks[0] - looks[1]) <= 1, "{looks:?}");
//! ```

use feed::Time;

use super::domain_prices::DeferredState;
use super::{CycleBudget, TideStrategy, due};
use crate::budget::Tracked;

/// By which shares of the price feeds are ordered, far from their moment and near it: so much may
/// the price fall before they are ordered anew.
const FAR: f64 = 0.7;
const NEAR: f64 = 0.94;
/// The share of a window that, expected to be new, lets a feed go first where polls are short, and
/// how much longer it then counts as overdue: no interval is longer.
const FULL: f64 = 0.3;
const HEAD_START_MS: i64 = 29 * 86_400_000;
/// A price that has moved by no more than this is the same.
pub(super) const DRIFT: f64 = 0.02;

impl TideStrategy {
    /// Orders a feed far from its moment.
    pub(super) fn wait(&mut self, feed: u32, tracked: &Tracked) {
        let at = due(tracked, FAR * self.price_of(feed, tracked), self.miss);
        self.queue.wait(feed, at, FAR * self.price.now());
    }

    /// Lines up a feed whose moment has come at the price of now, or orders it nearer to it.
    pub(super) fn advance(&mut self, feed: u32, tracked: &Tracked, now: Time) {
        let price = self.price_of(feed, tracked);
        let at = due(tracked, price, self.miss);
        if at <= now {
            self.feed_mut(feed).priced = price;
            let at = if is_full(tracked, now) { at.shifted(-HEAD_START_MS) } else { at };
            return self.queue.line_up(feed, at);
        }
        // An interval goes with the root of its price, near enough.
        let since = |last: Time| (at.millis_since(last) as f64 * NEAR.sqrt()) as i64;
        let near = tracked.last.map_or(at, |last| last.shifted(since(last)));
        if near > now {
            self.queue.wait(feed, near, NEAR * self.price.now());
        } else {
            self.queue.wait(feed, at, self.price.now());
        }
    }

    /// Those that are due, as many as can be paid, the longest overdue first and before them those
    /// whose windows fill. Polls that would be lost go to those that will be due next.
    pub(super) fn take(&mut self, now: Time, purse: &CycleBudget, feeds: &[Tracked]) -> Vec<usize> {
        let (mut chosen, mut bytes) = (Vec::new(), purse.bytes);
        while chosen.len() < purse.polls && bytes > 0.0 {
            let early = chosen.len() < purse.expiring;
            let due = self.queue.first();
            let next = if early { due.or_else(|| self.queue.next(now)) } else { due };
            let Some(due @ (at, feed, _)) = next else { break };
            let tracked = &feeds[feed as usize];
            let moved = self.price_of(feed, tracked) / self.feeds[feed as usize].priced;
            if at <= now && moved > 1.0 + DRIFT {
                self.advance(feed, tracked, now);
            } else if self.domains.take(due, now, purse.cycle) {
                bytes -= tracked.cost.max(0.0);
                chosen.push(feed as usize);
            }
        }
        chosen.iter().for_each(|feed| self.queue.remove(*feed as u32));
        chosen
    }

    /// Adapts the prices of domains that are short of polls.
    pub(super) fn adapt_domains(&mut self, now: Time, feeds: &[Tracked]) {
        let TideStrategy { price, domains, queue, feeds: known, .. } = self;
        domains.adapt(|due, markup| {
            let (at, feed, _) = *due;
            let tracked = &feeds[feed as usize];
            let Some(last) = tracked.last else { return DeferredState::Patient };
            if !queue.is_fresh(due) {
                return DeferredState::Gone;
            }
            let beside = price.beside_mean(tracked.cost) * markup / tracked.value();
            let moved = price.now() * beside / known[feed as usize].priced;
            let at = if at < last { at.shifted(HEAD_START_MS) } else { at };
            // An interval goes with the root of its price, near enough.
            let ms = at.millis_since(last) as f64 * moved.sqrt();
            if last.shifted(ms as i64) <= now {
                DeferredState::Late
            } else {
                DeferredState::Patient
            }
        });
    }
}

/// Whether entries may soon be lost: they come in bursts, and more than expected.
fn is_full(tracked: &Tracked, now: Time) -> bool {
    let expected = |last| tracked.believed().expect(last, now);
    tracked.last.is_some_and(|last| expected(last) >= FULL * f64::from(tracked.window))
}
