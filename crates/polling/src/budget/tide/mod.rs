//! `tide` — each feed is looked at when its entries will have waited for what a poll is worth,
//! and a poll is worth as much as the budget makes it.
//!
//! The rule of one feed is the policy's ([`crate::policy::tide`]); this is the price that all feeds
//! have in common ([`price`]) and the order in which they come. One price makes the sum over all
//! feeds least: it is the multiplier of "so many polls in all". A feed's weight multiplies its
//! entries, so it divides its price; a domain's pace raises it ([`domain_prices`]); bytes share it out.
//!
//! Nobody is looked at before it matters. A feed waits in a heap for the moment at which a price
//! somewhat lower than that of now would have it looked at, then for its own. A price that rises is
//! heeded when a feed's moment comes, one that falls when it falls below what a feed was ordered
//! by: the nearer its moment, the finer. So a plan costs what its polls cost.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // Two feeds, one with four times the entries: two looks for one, at six looks an hour.
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! planner.track(feed(0.0001));
//! planner.track(feed(0.0004));
//! planner.set_budget(Some("6/1h".parse().unwrap()));
//! let mut looks = [0, 0];
//! for minute in 0..1200 {
//!     let now = Time::from_secs(60 * minute);
//!     for number in planner.spend(now) {
//!         looks[number] += 1;
//!         let last = Some(now);
//!         let seen = Tracked { last, ..planner.feeds()[number].clone() };
//!         planner.renew(number, seen, now);
//!     }
//! }
//! assert!((116..=120).contains(&(looks[0] + looks[1])), "{looks:?}");
//! assert!((38..=42).contains(&looks[0]), "{looks:?}");
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
use crate::policy::tide::{PlannedPoll, next_look};
pub(crate) use cycle_budget::CycleBudget;
use domain_prices::DomainPrices;
use price::{Price, PriceTerm};
use queue::{NEVER, TideQueue};

/// Feeds that are ordered anew in one cycle, for each poll of it, and at least.
const MOVES: (usize, usize) = (20, 2000);

/// What `tide` keeps of all feeds.
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
    /// What it adds to the price's sums, if it does.
    part: Option<PriceTerm>,
    /// The price for which its moment was reckoned.
    priced: f64,
}

impl TideStrategy {
    /// The feed belongs to a domain that may be asked once every `gap`.
    pub(crate) fn pace(&mut self, feed: u32, domain: u32, gap: Duration) {
        self.domains.assign(feed, domain, gap);
    }

    /// The price of all, and how much of it is bytes: what a restart must not forget.
    pub(crate) fn settled(&self) -> (f64, f64) {
        (self.price.now(), self.price.share())
    }

    pub(crate) fn resume(&mut self, price: f64, share: f64) {
        self.price.resume(price, share);
    }

    pub(crate) fn set_miss(&mut self, miss: Miss) {
        self.miss = miss;
    }

    /// Forgets all feeds but what they cost and where they live: they are offered anew.
    pub(crate) fn clear(&mut self) {
        let (domains, miss) = (std::mem::take(&mut self.domains), self.miss);
        *self = TideStrategy { domains, miss, ..TideStrategy::default() };
        self.domains.clear();
    }

    /// Takes a feed out until it is offered again.
    pub(crate) fn remove(&mut self, feed: u32) {
        self.queue.remove(feed);
        if let Some(part) = self.feed_mut(feed).part.take() {
            self.price.subtract(part);
        }
    }

    /// Takes a feed out for good.
    pub(crate) fn leave(&mut self, feed: u32) {
        self.remove(feed);
        self.domains.leave(feed);
    }

    /// Takes in that a feed was observed, or changed its weight; it is not planned before `from`.
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

    /// What a poll of the feed costs, in entry-seconds of its own entries.
    fn price_of(&self, feed: u32, tracked: &Tracked) -> f64 {
        self.price.now() * self.beside(feed, tracked)
    }

    /// The same as a multiple of the price of all.
    fn beside(&self, feed: u32, tracked: &Tracked) -> f64 {
        self.price.beside_mean(tracked.cost) * self.domains.markup(feed) / tracked.value()
    }

    /// Why a feed is looked at when it is. The price is that of a poll before weights count.
    pub(crate) fn ground(&self, feed: u32, tracked: &Tracked) -> PlanCase {
        let price = self.price_of(feed, tracked);
        let next = tracked.last.and_then(|last| look(tracked, last, price, self.miss));
        let Some((at, look)) = next else { return PlanCase::NeverPolled };
        let price = Duration::try_from_secs_f64(price * tracked.value()).unwrap_or(Duration::MAX);
        let miss = self.miss;
        PlanCase::Waiting { expected: look.expected, waited: look.waited(), price, miss, at }
    }

    /// The polls of one cycle; those chosen are taken out until they are offered again.
    pub(crate) fn plan(&mut self, now: Time, purse: &CycleBudget, feeds: &[Tracked]) -> Vec<usize> {
        if self.price.is_stale(now, purse) {
            self.settle(now, purse, feeds);
        }
        let moves = MOVES.1.max(MOVES.0.saturating_mul(purse.polls));
        for feed in self.queue.ordered_above(self.price.now() * (1.0 + ordering::DRIFT), moves) {
            self.wait(feed, &feeds[feed as usize]);
        }
        let queue = &mut self.queue;
        self.domains.back(now, purse.cycle, |due| queue.line_up_again(due));
        for feed in self.queue.arrived(now, moves) {
            self.advance(feed, &feeds[feed as usize], now);
        }
        let chosen = self.take(now, purse, feeds);
        self.adapt_domains(now, feeds);
        self.queue.compact();
        chosen
    }
}

/// When a feed is due; always, where it was never polled.
fn due(tracked: &Tracked, price: f64, miss: Miss) -> Time {
    let next = tracked.last.and_then(|last| look(tracked, last, price, miss));
    next.map_or(NEVER, |(at, _)| at)
}

/// The look after one at `last` that is worth `price`.
fn look(
    tracked: &Tracked,
    last: Time,
    price: f64,
    Miss(miss): Miss,
) -> Option<(Time, PlannedPoll)> {
    let look = next_look(tracked.believed(), tracked.window, miss, last, price)?;
    Some((last.shifted((look.after_secs * 1000.0) as i64), look))
}
