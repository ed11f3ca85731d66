//! Pace as the price knows it: a domain that may be asked every two seconds grants thirty polls a
//! minute, however many feeds it has.
//!
//! Feeds beyond that are set aside, so that they take no poll from others, and a poll of the domain
//! becomes dearer for its own feeds until as many are wanted as can be made. It sends nothing; the
//! plan of the engine keeps the gap.
//!
//! A price higher by a share δ moves the next look of each feed by δ/2 of its interval, and with n
//! feeds n·δ/2 looks across the present moment; so u looks too many mean δ = 2u/n. A part of that
//! is followed: feeds differ.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, HourlyRates};
//! use std::time::Duration;
//!
//! // A domain that may be asked once an hour gets ten looks in ten hours; what it cannot use
//! // goes to the other.
//! let feed = |rate| Tracked {
//!     last: Some(Time::from_secs(0)),
//!     ..Tracked::new(Model::Frozen(HourlyRates { hours: vec![rate; 24], zone_secs: 0 }))
//! };
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! planner.track(feed(0.01));
//! planner.track(feed(0.01));
//! planner.set_pace(0, 1, Duration::from_secs(3600));
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
//! assert!(looks[0] <= 10 && looks[1] > 40, "{looks:?}");
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use feed::Time;

use super::queue::{DueFeed, NEVER};

/// No domain's own price is more than so many times the price of all.
const MARKUP_MAX: f64 = 1e6;

/// The part of a correction that is followed.
const GAIN: f64 = 0.3;
/// The most that one cycle may change: where feeds are few, one look too many says little.
const STEP_MAX: f64 = 0.05;

/// The domains whose pace is known.
#[derive(Clone, Debug, Default)]
pub(super) struct DomainPrices {
    of: Vec<Option<u32>>,
    domains: BTreeMap<u32, PacedDomain>,
    /// Feeds whose domain has no poll left, by domain. Those with a markup stay listed.
    aside: BTreeMap<u32, BinaryHeap<Reverse<DueFeed>>>,
}

/// How a feed that was set aside stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeferredState {
    /// It was taken out since.
    Gone,
    /// It would be due at the price of now.
    Late,
    /// It would not, or was never polled: no price keeps such a feed waiting.
    Patient,
}

#[derive(Clone, Copy, Debug)]
struct PacedDomain {
    gap: Duration,
    n_feeds: u32,
    /// By what its polls are dearer.
    markup: f64,
    /// Polls that may be made now, and when that was reckoned.
    credit: f64,
    at: Time,
}

impl DomainPrices {
    /// The feed belongs to a domain that may be asked once every `gap`.
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

    /// The feed is gone for good, and its domain with the last of them.
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

    /// The feed's domain, how many feeds it has, and the gap between two polls of it.
    pub(super) fn paced(&self, feed: u32) -> Option<(u32, u32, Duration)> {
        let number = self.of(feed)?;
        let domain = self.domains.get(&number)?;
        Some((number, domain.n_feeds, domain.gap))
    }

    /// By what a poll of this feed is dearer than the price of all.
    pub(super) fn markup(&self, feed: u32) -> f64 {
        self.of(feed).and_then(|domain| self.domains.get(&domain)).map_or(1.0, |d| d.markup)
    }

    /// Takes one of the domain's polls; where none is left the feed is set aside.
    pub(super) fn take(&mut self, due: DueFeed, now: Time, cycle: Duration) -> bool {
        let (_, feed, _) = due;
        let Some(number) = self.of(feed) else { return true };
        let Some(domain) = self.domains.get_mut(&number) else { return true };
        domain.earn(now, cycle);
        if domain.credit >= 1.0 {
            domain.credit -= 1.0;
            return true;
        }
        self.aside.entry(number).or_default().push(Reverse(due));
        false
    }

    /// The feeds set aside for which their domains have polls again, the most overdue first.
    pub(super) fn back(&mut self, now: Time, cycle: Duration, mut give: impl FnMut(DueFeed)) {
        for (number, waiting) in &mut self.aside {
            let Some(domain) = self.domains.get_mut(number) else { continue };
            domain.earn(now, cycle);
            for _ in 0..domain.credit as usize {
                let Some(Reverse(due)) = waiting.pop() else { break };
                give(due);
            }
        }
    }

    /// Adapts the prices of the domains that were short of polls, or have been.
    /// `standing` says how a feed set aside stands, by what a poll of it has become dearer.
    pub(super) fn adapt(&mut self, standing: impl Fn(&DueFeed, f64) -> DeferredState) {
        let domains = &mut self.domains;
        self.aside.retain(|number, waiting| {
            let Some(domain) = domains.get_mut(number) else { return false };
            waiting.retain(|Reverse(due)| standing(due, domain.markup) != DeferredState::Gone);
            let late = |due: &DueFeed| standing(due, domain.markup) == DeferredState::Late;
            let n_late = waiting.iter().filter(|Reverse(due)| late(due)).count();
            let missing = n_late as f64 - domain.credit;
            domain.markup *= correction(missing, domain.n_feeds);
            domain.markup = domain.markup.clamp(1.0, MARKUP_MAX);
            domain.markup > 1.0 || !waiting.is_empty()
        });
    }

    /// Nobody is set aside any more: all feeds are offered anew.
    pub(super) fn clear(&mut self) {
        self.aside.clear();
    }
}

impl PacedDomain {
    /// Credit grows with time, up to what two cycles allow.
    fn earn(&mut self, now: Time, cycle: Duration) {
        let gap = self.gap.as_secs_f64().max(1e-3);
        let most = (2.0 * cycle.as_secs_f64() / gap).max(1.0);
        let elapsed = if self.at == NEVER { cycle } else { now.since(self.at) };
        self.credit = (self.credit + elapsed.as_secs_f64() / gap).min(most);
        self.at = now;
    }
}

/// The factor by which a price changes where so many looks are `missing` among `n` feeds.
fn correction(missing: f64, n: u32) -> f64 {
    (2.0 * GAIN * missing / f64::from(n.max(1))).clamp(-STEP_MAX, STEP_MAX).exp()
}
