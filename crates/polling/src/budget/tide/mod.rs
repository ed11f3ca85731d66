//! `tide` — each feed is looked at when its entries will have waited for what a poll is worth, and a
//! poll is worth as much as the budget makes it.
//!
//! The rule of one feed is the policy's ([`crate::policy::tide`]); this is the price that all feeds
//! have in common ([`price`]) and the order in which they come. One price makes the sum over all
//! feeds least: it is the multiplier of "so many polls in all". A feed's weight multiplies its
//! entries, so it divides its price; a domain's pace raises it ([`domains`]); bytes share it out.
//!
//! Nobody is looked at before it matters. A feed waits in a heap for the moment at which a price
//! somewhat lower would have it looked at; then it is *near*, and ordered by its own moment. A
//! price that moves is heeded when a feed's moment comes; only where it has fallen far are those
//! who wait ordered anew, some of them in each cycle. So a plan costs what its polls cost.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, Rates};
//! use std::time::Duration;
//!
//! // Two feeds, one with four times the entries: two looks for one, at six looks an hour.
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(Rates { hours: vec![rate; 24], zone_secs: 0 }))
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
//! assert_eq!(looks[0] + looks[1], 120);
//! assert!((38..=42).contains(&looks[0]), "{looks:?}");
//! ```

mod domains;
mod heaps;
mod price;

use std::time::Duration;

use feed::Time;

use super::{Ground, Tracked};
use crate::policy::tide::{Look, next_look};
use domains::Domains;
use heaps::{Due, Heaps, NEVER};
use price::{Cycle, Limit, Part, Price};

/// A feed is near once a price this much lower would have it looked at: so far ahead of its time
/// may it be polled where the budget has polls to spare.
const NEAR: f64 = 0.7;
/// A moment is reckoned anew where the price has moved by more than this since.
const DRIFT: f64 = 0.02;
/// Feeds that are ordered anew in one cycle, for each poll of it, and at least.
const MOVES: (usize, usize) = (20, 2000);

/// What `tide` keeps of all feeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tide {
    price: Price,
    domains: Domains,
    heaps: Heaps,
    feeds: Vec<Feed>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Feed {
    /// What it adds to the price's sums, if it does.
    part: Option<Part>,
    /// The price for which its moment was reckoned.
    priced: f64,
}

/// What one cycle may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purse {
    pub(crate) polls: usize,
    /// Infinite where bytes are not limited.
    pub(crate) bytes: f64,
    /// The looks per second that the budget comes to.
    pub(crate) per_sec: f64,
    pub(crate) cycle: Duration,
}

impl Tide {
    /// The feed belongs to a domain that may be asked once every `gap`.
    pub(crate) fn pace(&mut self, feed: u32, domain: u32, gap: Duration) {
        self.domains.assign(feed, domain, gap);
    }

    /// The price of all, and how much of it is bytes: what a restart must not forget.
    pub(crate) fn settled(&self) -> (f64, f64) {
        (self.price.now(), self.price.share())
    }

    pub(crate) fn resume(&mut self, price: f64, share: f64) {
        self.price = self.price.resumed(price, share);
    }

    /// Forgets all feeds but what they cost and where they live: they are offered anew.
    pub(crate) fn clear(&mut self) {
        *self = Tide { domains: std::mem::take(&mut self.domains), ..Tide::default() };
        self.domains.clear();
    }

    /// Takes a feed out until it is offered again.
    pub(crate) fn remove(&mut self, feed: u32) {
        self.heaps.remove(feed);
        if let Some(part) = self.feed_mut(feed).part.take() {
            self.price.subtract(part);
        }
    }

    /// Takes in that a feed was observed, or changed its weight; it is not planned before `from`.
    pub(crate) fn offer(&mut self, feed: u32, tracked: &Tracked, from: Time) {
        self.remove(feed);
        let value = tracked.value();
        if value <= 0.0 {
            return;
        }
        let root = (value * tracked.believed().mean_rate() / 2.0).sqrt();
        let part = Part { root, bytes: tracked.cost.max(0.0) };
        self.price.add(part);
        self.feed_mut(feed).part = Some(part);
        self.heaps.hold(feed, from);
        self.wait(feed, tracked);
    }

    fn feed_mut(&mut self, feed: u32) -> &mut Feed {
        let index = feed as usize;
        if self.feeds.len() <= index {
            self.feeds.resize(index + 1, Feed::default());
        }
        &mut self.feeds[index]
    }

    /// Orders a feed by the moment at which it comes near.
    fn wait(&mut self, feed: u32, tracked: &Tracked) {
        let near = NEAR * self.price_of(feed, tracked);
        let at = look(tracked, near).map_or(NEVER, |(at, _)| at);
        self.heaps.wait(feed, at, NEAR * self.price.now());
    }

    /// What a poll of the feed costs, in entry-seconds of its own entries.
    fn price_of(&self, feed: u32, tracked: &Tracked) -> f64 {
        self.price.of(tracked.cost) * self.domains.markup(feed) / tracked.value()
    }

    /// Why a feed is looked at when it is. The price is that of a poll before weights count.
    pub(crate) fn ground(&self, feed: u32, tracked: &Tracked) -> Ground {
        let price = self.price_of(feed, tracked);
        let Some((at, look)) = look(tracked, price) else { return Ground::NeverPolled };
        let price = Duration::try_from_secs_f64(price * tracked.value()).unwrap_or(Duration::MAX);
        Ground::Waiting { expected: look.expected, waited: look.waited(), price, at }
    }

    /// The polls of one cycle; those chosen are taken out until they are offered again.
    pub(crate) fn plan(&mut self, now: Time, purse: Purse, feeds: &[Tracked]) -> Vec<usize> {
        self.price.follow(purse.per_sec);
        let moves = MOVES.1.max(MOVES.0.saturating_mul(purse.polls));
        for feed in self.heaps.keyed_above(self.price.now(), moves) {
            self.wait(feed, &feeds[feed as usize]);
        }
        let heaps = &mut self.heaps;
        self.domains.back(now, purse.cycle, |due| heaps.approach(due));
        for (feed, number) in self.heaps.arrived(now, moves) {
            let at = self.reckon(feed, &feeds[feed as usize]);
            self.heaps.approach((at, feed, number));
        }
        let (chosen, mut cycle) = self.take(now, purse, feeds);
        if purse.polls > 0 {
            cycle.too_many = self.n_late(now, feeds);
            self.price.adapt(cycle);
            let heaps = &self.heaps;
            self.domains.adapt(now, |due| heaps.is_fresh(due));
        }
        self.heaps.compact();
        chosen
    }

    /// When a feed is due at the price of now; always, where it was never polled.
    fn reckon(&mut self, feed: u32, tracked: &Tracked) -> Time {
        let price = self.price_of(feed, tracked);
        self.feed_mut(feed).priced = price;
        look(tracked, price).map_or(NEVER, |(at, _)| at)
    }

    /// The first of those that are near, as many as can be paid.
    fn take(&mut self, now: Time, purse: Purse, feeds: &[Tracked]) -> (Vec<usize>, Cycle) {
        let (mut chosen, mut cycle, mut bytes) = (Vec::new(), Cycle::default(), purse.bytes);
        while chosen.len() < purse.polls && bytes > 0.0 {
            let Some(due @ (at, feed, number)) = self.heaps.nearest() else { break };
            let tracked = &feeds[feed as usize];
            let moved = self.price_of(feed, tracked) / self.feeds[feed as usize].priced;
            if at > NEVER && (moved - 1.0).abs() > DRIFT {
                let at = self.reckon(feed, tracked);
                self.heaps.approach((at, feed, number));
            } else if self.domains.take(due, now, purse.cycle) {
                cycle.too_few += usize::from(at > now);
                bytes -= tracked.cost.max(0.0);
                chosen.push(feed as usize);
            }
        }
        let is_spent = bytes <= 0.0;
        cycle.too_few += if is_spent { 0 } else { purse.polls - chosen.len() };
        if purse.bytes.is_finite() {
            let by_polls = chosen.len() == purse.polls && purse.polls > 0;
            let by_bytes = is_spent.then_some(Limit::Bytes);
            cycle.ended_by = by_bytes.or(by_polls.then_some(Limit::Polls));
        }
        chosen.iter().for_each(|feed| self.heaps.remove(*feed as u32));
        (chosen, cycle)
    }

    /// Feeds that are due and were not polled. A price that moved since a feed's moment was
    /// reckoned has moved it by the root of that.
    fn n_late(&self, now: Time, feeds: &[Tracked]) -> usize {
        let is_late = |(at, feed, _): &&Due| {
            let tracked = &feeds[*feed as usize];
            let Some(last) = tracked.last.filter(|_| *at > NEVER) else { return false };
            let moved = self.price_of(*feed, tracked) / self.feeds[*feed as usize].priced;
            let ms = at.millis_since(last) as f64 * moved.sqrt();
            last.shifted(ms as i64) <= now
        };
        self.heaps.near().filter(is_late).count()
    }
}

/// The look after the last one that is worth `price`; `None` for a feed never polled.
fn look(tracked: &Tracked, price: f64) -> Option<(Time, Look)> {
    let last = tracked.last?;
    let look = next_look(tracked.believed(), tracked.window, last, price)?;
    Some((last.shifted((look.after_secs * 1000.0) as i64), look))
}
