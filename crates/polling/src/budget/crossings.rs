//! `two-steps` for a million feeds: nobody is looked at before it matters.
//!
//! The published algorithm looks at every feed in every cycle. Here the moment at which a feed will
//! saturate, and that at which its utility will reach the bar, are computed when it is observed and
//! kept in heaps; a cycle touches only the feeds whose moment has come. When the bar falls, the
//! feeds keyed by a higher one are keyed again; when it rises, they come up early and are keyed
//! again then. Every decision is made on the same [`Standing`] that the scan uses, so both choose
//! the same polls; a test proves it.
//!
//! A fresh key aims below the bar, so that a bar that trembles by a few percent costs nothing.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap};

use feed::Time;

use super::two_steps::Threshold;
use super::{Standing, Tracked};

/// The rungs at which a feed is keyed, as shares of the bar: the nearer it is, the finer.
const RUNGS: [f64; 4] = [0.8, 0.92, 0.98, 1.0];
/// A key is early by this share of the interval and a millisecond, never late by rounding.
const EARLY: f64 = 1e-9;

/// An f64 with a total order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Value(f64);

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// What is kept per feed.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Stale heap entries carry an older number.
    keyed: u32,
    observed: u32,
    /// The bits of its divergence in the set of saturated feeds, if it is there.
    saturated: Option<u64>,
    active: bool,
}

/// The next crossings of all feeds.
#[derive(Clone, Debug, Default)]
pub struct Crossings {
    slots: Vec<Slot>,
    /// When the utility may reach the bar: moment, feed, key number.
    due: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// The bars that the keys aim at, highest first: bar, feed, key number.
    bars: BinaryHeap<(Value, u32, u32)>,
    /// When feeds saturate: moment, feed, observation number.
    filling: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// Saturated feeds, the largest divergence first.
    saturated: BTreeSet<(Reverse<u64>, u32)>,
}

impl Crossings {
    /// Takes in that `feed` was observed, or changed its weight; not before `from` will it be
    /// offered. `bar` is the present one.
    pub fn insert(&mut self, feed: u32, tracked: &Tracked, bar: f64, from: Time) {
        self.remove(feed);
        let slot = &mut self.slots[feed as usize];
        slot.active = true;
        slot.observed += 1;
        let observed = slot.observed;
        if tracked.value() <= 0.0 {
            return;
        }
        if let Some(full) = fills_at(tracked) {
            self.filling.push(Reverse((full.max(from), feed, observed)));
        }
        self.key(feed, tracked, bar * RUNGS[0], from);
    }

    /// Takes a feed out until it is inserted again.
    pub fn remove(&mut self, feed: u32) {
        if self.slots.len() <= feed as usize {
            self.slots.resize(feed as usize + 1, Slot::default());
        }
        let slot = &mut self.slots[feed as usize];
        slot.active = false;
        slot.keyed += 1;
        slot.observed += 1;
        if let Some(divergence) = slot.saturated.take() {
            self.saturated.remove(&(Reverse(divergence), feed));
        }
    }

    /// The polls of one cycle; those chosen are taken out until they are inserted again.
    pub fn plan(
        &mut self,
        now: Time,
        budget: usize,
        tau: &mut Threshold,
        feeds: &[Tracked],
    ) -> Vec<usize> {
        self.fill_up(now, feeds);
        let mut chosen: Vec<u32> = self.saturated.iter().take(budget).map(|(_, f)| *f).collect();
        if let Some(bar) = tau.bar(budget, chosen.len()) {
            self.lower_to(bar, feeds);
            let first = chosen.len();
            self.over(now, bar, feeds, &mut chosen);
            chosen[first..].sort_unstable();
        }
        tau.adapt(budget, chosen.len());
        for feed in &chosen {
            self.remove(*feed);
        }
        self.compact();
        chosen.into_iter().map(|feed| feed as usize).collect()
    }

    /// Moves the feeds whose window is full by now into the set of saturated ones.
    fn fill_up(&mut self, now: Time, feeds: &[Tracked]) {
        let mut not_yet = Vec::new();
        while let Some(&Reverse((at, feed, observed))) = self.filling.peek() {
            if at > now {
                break;
            }
            self.filling.pop();
            let slot = &mut self.slots[feed as usize];
            if slot.observed != observed {
                continue;
            }
            let standing = feeds[feed as usize].standing(now);
            if standing.saturated {
                let divergence = standing.divergence.to_bits();
                slot.saturated = Some(divergence);
                self.saturated.insert((Reverse(divergence), feed));
            } else {
                // The key was a trifle early.
                not_yet.push(Reverse((now + std::time::Duration::from_millis(1), feed, observed)));
            }
        }
        self.filling.extend(not_yet);
    }

    /// Keys again what aims at a bar above the present one.
    fn lower_to(&mut self, bar: f64, feeds: &[Tracked]) {
        while let Some(&(Value(aimed), feed, keyed)) = self.bars.peek() {
            if aimed <= bar {
                break;
            }
            self.bars.pop();
            if self.slots[feed as usize].keyed == keyed {
                let from = Time::from_millis(i64::MIN);
                self.key(feed, &feeds[feed as usize], bar * RUNGS[0], from);
            }
        }
    }

    /// Adds the unsaturated feeds whose utility has reached the bar.
    fn over(&mut self, now: Time, bar: f64, feeds: &[Tracked], chosen: &mut Vec<u32>) {
        let mut again = Vec::new();
        while let Some(&Reverse((at, feed, keyed))) = self.due.peek() {
            if at > now {
                break;
            }
            self.due.pop();
            let slot = self.slots[feed as usize];
            if slot.keyed != keyed || slot.saturated.is_some() {
                continue;
            }
            let Standing { saturated, utility, .. } = feeds[feed as usize].standing(now);
            if !saturated && utility >= bar {
                chosen.push(feed);
            } else if !saturated {
                again.push((feed, utility));
            }
        }
        for (feed, utility) in again {
            let rung = RUNGS.iter().map(|rung| rung * bar).find(|aim| *aim > utility);
            let after = now + std::time::Duration::from_millis(1);
            self.key(feed, &feeds[feed as usize], rung.unwrap_or(bar), after);
        }
    }

    /// Sets the moment at which the utility reaches `aim`, not before `from`.
    fn key(&mut self, feed: u32, tracked: &Tracked, aim: f64, from: Time) {
        let slot = &mut self.slots[feed as usize];
        slot.keyed += 1;
        let keyed = slot.keyed;
        let Some(last) = tracked.last else { return };
        let Some(secs) = tracked.model.until_utility(last, aim / tracked.value()) else { return };
        self.due.push(Reverse((early(last, secs).max(from), feed, keyed)));
        self.bars.push((Value(aim), feed, keyed));
    }

    /// Stale entries are dropped before they outnumber the feeds.
    fn compact(&mut self) {
        let room = 4 * self.slots.len() + 1024;
        if self.due.len() > room || self.bars.len() > room {
            let slots = &self.slots;
            self.due.retain(|Reverse((_, feed, keyed))| slots[*feed as usize].keyed == *keyed);
            self.bars.retain(|(_, feed, keyed)| slots[*feed as usize].keyed == *keyed);
        }
        if self.filling.len() > room {
            let slots = &self.slots;
            let fresh = |&Reverse((_, feed, n)): &Reverse<(Time, u32, u32)>| {
                slots[feed as usize].observed == n
            };
            self.filling.retain(fresh);
        }
    }
}

/// When the window is full of new entries; at once for a feed never polled.
fn fills_at(tracked: &Tracked) -> Option<Time> {
    let Some(last) = tracked.last else { return Some(Time::from_millis(i64::MIN)) };
    tracked.model.until_expected(last, f64::from(tracked.window)).map(|secs| early(last, secs))
}

fn early(last: Time, secs: f64) -> Time {
    // Beyond a millennium nothing is waited for; the cast would saturate anyway.
    let ms = (secs * (1.0 - EARLY) * 1000.0).min(1e15) as i64;
    last.shifted(ms - 1)
}
