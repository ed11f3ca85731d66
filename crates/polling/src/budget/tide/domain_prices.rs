//! Pace in the price: a domain that allows one request every two seconds allows thirty polls a
//! minute, for any number of feeds.
//!
//! Feeds beyond that are deferred, so that they take no poll from others. The price of a poll rises
//! for the feeds of that domain until they want no more polls than the pace allows. The engine's
//! plan enforces the gap itself.
//!
//! A price higher by a share δ delays the next poll of each feed by δ/2 of its interval; for n
//! feeds that moves n·δ/2 polls past the present. An excess of u polls therefore needs δ = 2u/n.
//! Only a part of that is applied, because feeds differ.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // A domain that allows one request an hour gets ten polls in ten hours. The other feed gets
//! // the rest.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.01));
//! planner.track(feed(0.01));
//! planner.set_pace(0, 1, Duration::from_secs(3600));
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
//! assert!(polls[0] <= 10 && polls[1] > 40, "{polls:?}");
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use feed::Time;

use super::queue::{DueFeed, NEVER};

/// The largest factor of a domain's price over the common price.
const MARKUP_MAX: f64 = 1e6;

/// The part of a correction that is applied.
const GAIN: f64 = 0.3;
/// The largest change in one cycle: for few feeds one poll too many says little.
const STEP_MAX: f64 = 0.05;

/// The domains with a known pace.
#[derive(Clone, Debug, Default)]
pub(super) struct DomainPrices {
    of: Vec<Option<u32>>,
    domains: BTreeMap<u32, PacedDomain>,
    /// Deferred feeds by domain. Domains with a markup stay listed.
    deferred: BTreeMap<u32, BinaryHeap<Reverse<DueFeed>>>,
}

/// The state of a deferred feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeferredState {
    /// The queue entry is stale.
    Stale,
    /// It would be due at the current price.
    Due,
    /// It would not be due, or was never polled: no price delays such a feed.
    NotDue,
}

#[derive(Clone, Copy, Debug)]
struct PacedDomain {
    gap: Duration,
    n_feeds: u32,
    /// The factor on the price of its polls.
    markup: f64,
    /// The polls that are allowed now, and the time of that count.
    credit: f64,
    at: Time,
}

impl DomainPrices {
    /// Assigns the feed to a domain that allows one request every `gap`.
    pub(super) fn assign(&mut self, feed: u32, domain: u32, gap: Duration) {
        let index = feed as usize;
        if self.of.len() <= index {
            self.of.resize(index + 1, None);
        }
        if let Some(before) = self.of[index].replace(domain)
            && let Some(left) = self.domains.get_mut(&before)
        {
            left.n_feeds = left.n_feeds.saturating_sub(1);
        }
        let fresh = PacedDomain { gap, n_feeds: 0, markup: 1.0, credit: 1.0, at: NEVER };
        let known = self.domains.entry(domain).or_insert(fresh);
        known.gap = gap;
        known.n_feeds += 1;
    }

    /// Drops the feed, and its domain with the last feed.
    pub(super) fn leave(&mut self, feed: u32) {
        let Some(number) = self.of.get_mut(feed as usize).and_then(Option::take) else { return };
        if let Some(domain) = self.domains.get_mut(&number) {
            domain.n_feeds = domain.n_feeds.saturating_sub(1);
            if domain.n_feeds == 0 {
                self.domains.remove(&number);
            }
        }
    }

    fn of(&self, feed: u32) -> Option<u32> {
        *self.of.get(feed as usize)?
    }

    /// Returns the feed's domain, its number of feeds, and the gap between its requests.
    pub(super) fn paced(&self, feed: u32) -> Option<(u32, u32, Duration)> {
        let number = self.of(feed)?;
        let domain = self.domains.get(&number)?;
        Some((number, domain.n_feeds, domain.gap))
    }

    /// Returns the factor of this feed's domain on the common price.
    pub(super) fn markup(&self, feed: u32) -> f64 {
        self.of(feed).and_then(|domain| self.domains.get(&domain)).map_or(1.0, |d| d.markup)
    }

    /// Takes one of the domain's polls. Without one the feed is deferred.
    pub(super) fn take(&mut self, due: DueFeed, now: Time, cycle: Duration) -> bool {
        let (_, feed, _) = due;
        let Some(number) = self.of(feed) else { return true };
        let Some(domain) = self.domains.get_mut(&number) else { return true };
        domain.earn(now, cycle);
        if domain.credit >= 1.0 {
            domain.credit -= 1.0;
            return true;
        }
        self.deferred.entry(number).or_default().push(Reverse(due));
        false
    }

    /// Returns deferred feeds whose domains allow polls again, the most overdue first.
    pub(super) fn release(&mut self, now: Time, cycle: Duration, mut give: impl FnMut(DueFeed)) {
        for (number, waiting) in &mut self.deferred {
            let Some(domain) = self.domains.get_mut(number) else { continue };
            domain.earn(now, cycle);
            for _ in 0..domain.credit as usize {
                let Some(Reverse(due)) = waiting.pop() else { break };
                give(due);
            }
        }
    }

    /// Adjusts the prices of domains that are or were short of polls. `state` tells the state of a
    /// deferred feed at a markup.
    pub(super) fn adapt(&mut self, state: impl Fn(&DueFeed, f64) -> DeferredState) {
        let domains = &mut self.domains;
        self.deferred.retain(|number, waiting| {
            let Some(domain) = domains.get_mut(number) else { return false };
            waiting.retain(|Reverse(due)| state(due, domain.markup) != DeferredState::Stale);
            let late = |due: &DueFeed| state(due, domain.markup) == DeferredState::Due;
            let n_late = waiting.iter().filter(|Reverse(due)| late(due)).count();
            let missing = n_late as f64 - domain.credit;
            domain.markup *= correction(missing, domain.n_feeds);
            domain.markup = domain.markup.clamp(1.0, MARKUP_MAX);
            domain.markup > 1.0 || !waiting.is_empty()
        });
    }

    /// Drops all deferred feeds. The caller offers every feed again.
    pub(super) fn clear(&mut self) {
        self.deferred.clear();
    }
}

impl PacedDomain {
    /// Adds the credit of the elapsed time, up to that of two cycles.
    fn earn(&mut self, now: Time, cycle: Duration) {
        let gap = self.gap.as_secs_f64().max(1e-3);
        let most = (2.0 * cycle.as_secs_f64() / gap).max(1.0);
        let elapsed = if self.at == NEVER { cycle } else { now.since(self.at) };
        self.credit = (self.credit + elapsed.as_secs_f64() / gap).min(most);
        self.at = now;
    }
}

/// Returns the factor on a price if `missing` polls are missing among `n` feeds.
fn correction(missing: f64, n: u32) -> f64 {
    (2.0 * GAIN * missing / f64::from(n.max(1))).clamp(-STEP_MAX, STEP_MAX).exp()
}
