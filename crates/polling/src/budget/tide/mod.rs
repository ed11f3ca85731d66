//! `tide` — polls each feed when the expected waiting of its entries reaches the price of a poll.
//! The budget determines the price.
//!
//! The rule for one feed is the policy's ([`crate::policy::tide`]). This module adds the common
//! price ([`price`]) and the order of feeds. One common price minimises the total waiting: it is
//! the Lagrange multiplier of the poll budget. A feed's weight divides its price, the pace of its
//! domain raises it ([`domain_prices`]), and limited bytes scale it by size.
//!
//! A cycle touches only feeds whose time has come. A feed waits in a heap until it would be due at
//! a price somewhat below the current one, then until its exact time. A rising price is applied
//! when a feed comes up. A falling price is applied when it drops below the price by which a feed
//! was ordered; the closer its time, the finer. The cost of a plan is therefore proportional to its
//! polls.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // Two feeds, one with four times the entries: twice the polls, at six polls an hour.
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! planner.track(feed(0.0001));
//! planner.track(feed(0.0004));
//! planner.set_budget(Some("6/1h".parse().unwrap()));
//! let mut polls = [0, 0];
//! for minute in 0..1200 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         polls[number] += 1;
//!         let last = Some(now);
//!         let seen = Tracked { last, ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert!((116..=120).contains(&(polls[0] + polls[1])), "{polls:?}");
//! assert!((38..=42).contains(&polls[0]), "{polls:?}");
//! ```

mod cycle_budget;
mod domain_prices;
mod ordering;
mod price;
mod price_sample;
mod price_search;
mod queue;

use std::time::Duration;

use feed::Time;

use super::{Miss, PlanCase, Tracked};
use crate::policy::tide::{PlannedPoll, next_poll};
pub(crate) use cycle_budget::CycleBudget;
use domain_prices::DomainPrices;
use price::{Price, PriceTerm};
use queue::{NEVER, TideQueue};

/// Feeds that are reordered in one cycle: per poll, and at least.
const MOVES: (usize, usize) = (20, 2000);

/// The state of `tide` over all feeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct TideStrategy {
    price: Price,
    domains: DomainPrices,
    queue: TideQueue,
    feeds: Vec<PricedFeed>,
    miss: Miss,
}

#[derive(Clone, Copy, Debug, Default)]
struct PricedFeed {
    /// The feed's term in the sums of the price, if it counts.
    part: Option<PriceTerm>,
    /// The price for which its due time was computed.
    priced: f64,
}

impl TideStrategy {
    /// Assigns the feed to a domain that allows one request every `gap`.
    pub(crate) fn pace(&mut self, feed: u32, domain: u32, gap: Duration) {
        self.domains.assign(feed, domain, gap);
    }

    /// Returns the price and its share of bytes, which a restart restores.
    pub(crate) fn stored_price(&self) -> (f64, f64) {
        (self.price.now(), self.price.share())
    }

    pub(crate) fn resume(&mut self, price: f64, share: f64) {
        self.price.resume(price, share);
    }

    pub(crate) fn set_miss(&mut self, miss: Miss) {
        self.miss = miss;
    }

    /// Forgets all feeds except domains and the price of a miss. The caller offers every feed
    /// again.
    pub(crate) fn clear(&mut self) {
        let (domains, miss) = (std::mem::take(&mut self.domains), self.miss);
        *self = TideStrategy { domains, miss, ..TideStrategy::default() };
        self.domains.clear();
    }

    /// Removes a feed until it is offered again.
    pub(crate) fn remove(&mut self, feed: u32) {
        self.queue.remove(feed);
        if let Some(part) = self.feed_mut(feed).part.take() {
            self.price.subtract(part);
        }
    }

    /// Drops a feed for good.
    pub(crate) fn leave(&mut self, feed: u32) {
        self.remove(feed);
        self.domains.leave(feed);
    }

    /// Queues a feed that was observed or changed its weight. It is not planned before `from`.
    pub(crate) fn offer(&mut self, feed: u32, tracked: &Tracked, from: Time) {
        self.remove(feed);
        let value = tracked.value();
        if value <= 0.0 {
            return;
        }
        let root = (value * tracked.believed().mean_rate()).sqrt();
        let part = PriceTerm { root, bytes: tracked.cost.max(0.0) };
        self.price.add(part);
        self.feed_mut(feed).part = Some(part);
        self.queue.hold(feed, from);
        self.wait(feed, tracked);
    }

    fn feed_mut(&mut self, feed: u32) -> &mut PricedFeed {
        let index = feed as usize;
        if self.feeds.len() <= index {
            self.feeds.resize(index + 1, PricedFeed::default());
        }
        &mut self.feeds[index]
    }

    /// Returns the price of a poll of the feed, in entry-seconds of its own entries.
    fn price_of(&self, feed: u32, tracked: &Tracked) -> f64 {
        self.price.now() * self.relative_price(feed, tracked)
    }

    /// Returns the same as a multiple of the common price.
    fn relative_price(&self, feed: u32, tracked: &Tracked) -> f64 {
        self.price.relative_cost(tracked.cost) * self.domains.markup(feed) / tracked.value()
    }

    /// Explains when a feed is polled. The price is shown without the feed's weight.
    pub(crate) fn case(&self, feed: u32, tracked: &Tracked) -> PlanCase {
        let price = self.price_of(feed, tracked);
        let next = tracked.last.and_then(|last| planned_poll(tracked, last, price, self.miss));
        let Some((at, poll)) = next else { return PlanCase::NeverPolled };
        let price = Duration::try_from_secs_f64(price * tracked.value()).unwrap_or(Duration::MAX);
        let miss = self.miss;
        PlanCase::Waiting { expected: poll.expected, waited: poll.waited(), price, miss, at }
    }

    /// Returns the polls of one cycle. They are removed until they are offered again.
    pub(crate) fn plan(
        &mut self,
        now: Time,
        budget: &CycleBudget,
        feeds: &[Tracked],
    ) -> Vec<usize> {
        if self.price.is_stale(now, budget) {
            self.adjust(now, budget, feeds);
        }
        let moves = MOVES.1.max(MOVES.0.saturating_mul(budget.polls));
        for feed in self.queue.ordered_above(self.price.now() * (1.0 + ordering::DRIFT), moves) {
            self.wait(feed, &feeds[feed as usize]);
        }
        let queue = &mut self.queue;
        self.domains.release(now, budget.cycle, |due| queue.return_due(due));
        for feed in self.queue.arrived(now, moves) {
            self.advance(feed, &feeds[feed as usize], now);
        }
        let chosen = self.take(now, budget, feeds);
        self.adapt_domains(now, feeds);
        self.queue.compact();
        chosen
    }
}

/// Returns when a feed is due: always, if it was never polled.
fn due(tracked: &Tracked, price: f64, miss: Miss) -> Time {
    let next = tracked.last.and_then(|last| planned_poll(tracked, last, price, miss));
    next.map_or(NEVER, |(at, _)| at)
}

/// Returns the poll after one at `last` that is worth `price`.
fn planned_poll(
    tracked: &Tracked,
    last: Time,
    price: f64,
    Miss(miss): Miss,
) -> Option<(Time, PlannedPoll)> {
    let poll = next_poll(tracked.believed(), tracked.window, miss, last, price)?;
    Some((last.shifted((poll.after_secs * 1000.0) as i64), poll))
}
