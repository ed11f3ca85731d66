//! `two-steps` for a million feeds: a cycle touches only the feeds whose time has come.
//!
//! The published algorithm evaluates every feed in every cycle. Here the times at which a feed
//! saturates, and at which its utility reaches the bar, are computed when it is observed and kept
//! in heaps. When the bar falls, the feeds keyed by a higher one are keyed again; when it rises,
//! they come up early and are keyed again then. Every decision uses the same [`FeedUrgency`] as the
//! scan, so both choose the same polls; a test proves it.
//!
//! A fresh key aims far below the bar, so that small changes of the bar cost nothing.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Tracked, crossings::Crossings, two_steps::Threshold};
//! use polling::model::{Model, homogeneous::Homogeneous};
//!
//! let model = Model::Homogeneous(Homogeneous { rate: 0.02 });
//! let feeds = [Tracked { last: Some(Time::from_secs(0)), ..Tracked::new(model) }];
//! let (mut crossings, mut tau) = (Crossings::default(), Threshold::new(100.0));
//! crossings.insert(0, &feeds[0], tau.tau(), Time::from_secs(0));
//! // U = 0.02·t²/2 reaches 100 after 100 seconds.
//! assert!(crossings.plan(Time::from_secs(99), 1, &mut tau.clone(), &feeds).is_empty());
//! assert_eq!(crossings.plan(Time::from_secs(100), 1, &mut tau, &feeds), [0]);
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use feed::Time;

use super::saturation::Saturation;
use super::two_steps::Threshold;
use crate::budget::{FeedUrgency, Tracked};

/// The steps at which a feed is keyed, as shares of the bar: the nearer, the finer. All feeds are
/// keyed again at once only when the bar falls below the first step.
const RUNGS: [f64; 4] = [0.4, 0.8, 0.95, 1.0];
/// Crossings are searched slightly below the bar. If a rate is zero for hours, the last bit of a
/// sum decides on which side of them the crossing lies.
pub(crate) const BELOW: f64 = 1.0 - 1e-9;
/// A key is early by this share of the interval and a millisecond, so that rounding never makes it
/// late.
const EARLY: f64 = 1e-9;

/// The next crossings of all feeds.
#[derive(Clone, Debug, Default)]
pub struct Crossings {
    saturation: Saturation,
    /// The number of each feed's key; stale entries of the heaps have an older one.
    keyed: Vec<u32>,
    /// The time from which each feed may be offered.
    from: Vec<Time>,
    /// When the utility may reach the aim of the key: time, feed, key number.
    due: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// The aims of the keys, highest first: the bits of a positive number, feed, key number.
    aims: BinaryHeap<(u64, u32, u32)>,
}

impl Crossings {
    /// Inserts a feed that was observed or changed its weight. It is not offered before `from`.
    /// `bar` is the current one.
    pub fn insert(&mut self, feed: u32, tracked: &Tracked, bar: f64, from: Time) {
        self.remove(feed);
        self.from[feed as usize] = from;
        if tracked.value() > 0.0 {
            self.saturation.insert(feed, tracked, from);
            self.key(feed, tracked, bar * RUNGS[0]);
        }
    }

    /// Removes a feed until it is inserted again.
    pub fn remove(&mut self, feed: u32) {
        if self.keyed.len() <= feed as usize {
            self.keyed.resize(feed as usize + 1, 0);
            self.from.resize(feed as usize + 1, Time::from_millis(i64::MIN));
        }
        self.keyed[feed as usize] += 1;
        self.saturation.remove(feed);
    }

    /// Returns the polls of one cycle. They are removed until they are inserted again.
    pub fn plan(
        &mut self,
        now: Time,
        budget: usize,
        tau: &mut Threshold,
        feeds: &[Tracked],
    ) -> Vec<usize> {
        let mut chosen = self.saturation.top(now, budget, feeds);
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

    /// Keys the feeds again that aim above the current bar.
    fn lower_to(&mut self, bar: f64, feeds: &[Tracked]) {
        while let Some(&(aim, feed, keyed)) = self.aims.peek() {
            if f64::from_bits(aim) <= bar {
                break;
            }
            self.aims.pop();
            if self.keyed[feed as usize] == keyed {
                self.key(feed, &feeds[feed as usize], bar * RUNGS[0]);
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
            if self.keyed[feed as usize] != keyed || self.saturation.is_full(feed) {
                continue;
            }
            let FeedUrgency { saturated, utility, .. } = feeds[feed as usize].urgency(now);
            if !saturated && utility >= bar {
                chosen.push(feed);
            } else if !saturated {
                again.push((feed, utility));
            }
        }
        for (feed, utility) in again {
            let rung = RUNGS.iter().map(|rung| rung * bar).find(|aim| *aim > utility);
            self.from[feed as usize] = now + Duration::from_millis(1);
            self.key(feed, &feeds[feed as usize], rung.unwrap_or(bar));
        }
    }

    /// Sets the time at which the utility reaches `aim`.
    fn key(&mut self, feed: u32, tracked: &Tracked, aim: f64) {
        self.keyed[feed as usize] += 1;
        let keyed = self.keyed[feed as usize];
        let Some(last) = tracked.last else { return };
        let reached = aim * BELOW / tracked.value();
        let Some(secs) = tracked.believed().until_utility(last, reached) else { return };
        let at = early(last, secs).max(self.from[feed as usize]);
        self.due.push(Reverse((at, feed, keyed)));
        self.aims.push((aim.to_bits(), feed, keyed));
    }

    /// Drops stale entries before they far outnumber the feeds.
    fn compact(&mut self) {
        let room = 4 * self.keyed.len() + 1024;
        if self.due.len() > room || self.aims.len() > room {
            let fresh = &self.keyed;
            self.due.retain(|Reverse((_, feed, keyed))| fresh[*feed as usize] == *keyed);
            self.aims.retain(|(_, feed, keyed)| fresh[*feed as usize] == *keyed);
        }
        self.saturation.compact();
    }
}

/// Returns the time `secs` after `last`, slightly early.
pub(crate) fn early(last: Time, secs: f64) -> Time {
    // The cap is beyond thirty thousand years.
    let ms = (secs * (1.0 - EARLY) * 1000.0).min(1e15) as i64;
    last.shifted(ms - 1)
}
