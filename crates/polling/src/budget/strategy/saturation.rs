//! Finds saturated feeds without evaluating the others. The time at which a window fills up with
//! new entries, Div(t_k, t) = W, is computed when the feed is observed.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::{Model, homogeneous::Homogeneous};
//!
//! let mut planner = Planner::new(Strategy::TwoSteps, std::time::Duration::from_secs(1));
//! planner.set_threshold(1e9);
//! let model = Model::Homogeneous(Homogeneous { rate: 2.0 });
//! planner.track(Tracked { last: Some(Time::from_secs(0)), window: 10, ..Tracked::new(model) });
//! // Far below the threshold, but after five seconds entries are being lost.
//! assert!(planner.plan(Time::from_secs(4), 1).is_empty());
//! assert_eq!(planner.plan(Time::from_secs(5), 1), [0]);
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::time::Duration;

use feed::Time;

use super::crossings::{BELOW, early};
use crate::budget::Tracked;

/// The feeds that fill up, and those that are full.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saturation {
    feeds: Vec<SaturationEntry>,
    /// When feeds fill up: time, feed, its number then.
    filling: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// Full feeds, the largest divergence first. Positive numbers have the order of their bits.
    full: BTreeSet<(Reverse<u64>, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SaturationEntry {
    /// Stale entries of the heap have an older number.
    number: u32,
    /// The bits of its divergence in the set of full feeds, if it is there.
    divergence: Option<u64>,
}

impl Saturation {
    /// Waits for `feed` to fill up. It is not offered before `from`.
    pub(crate) fn insert(&mut self, feed: u32, tracked: &Tracked, from: Time) {
        self.remove(feed);
        if let Some(at) = fills_at(tracked) {
            let number = self.feeds[feed as usize].number;
            self.filling.push(Reverse((at.max(from), feed, number)));
        }
    }

    pub(crate) fn remove(&mut self, feed: u32) {
        if self.feeds.len() <= feed as usize {
            self.feeds.resize(feed as usize + 1, SaturationEntry::default());
        }
        let known = &mut self.feeds[feed as usize];
        known.number += 1;
        if let Some(divergence) = known.divergence.take() {
            self.full.remove(&(Reverse(divergence), feed));
        }
    }

    pub(crate) fn is_full(&self, feed: u32) -> bool {
        self.feeds[feed as usize].divergence.is_some()
    }

    /// Returns at most `n` full feeds, the largest divergence first.
    pub(crate) fn top(&mut self, now: Time, n: usize, feeds: &[Tracked]) -> Vec<u32> {
        self.fill_up(now, feeds);
        self.full.iter().take(n).map(|(_, feed)| *feed).collect()
    }

    fn fill_up(&mut self, now: Time, feeds: &[Tracked]) {
        let mut not_yet = Vec::new();
        while let Some(&Reverse((at, feed, number))) = self.filling.peek() {
            if at > now {
                break;
            }
            self.filling.pop();
            let known = &mut self.feeds[feed as usize];
            if known.number != number {
                continue;
            }
            let urgency = feeds[feed as usize].urgency(now);
            if urgency.saturated {
                let divergence = urgency.divergence.to_bits();
                known.divergence = Some(divergence);
                self.full.insert((Reverse(divergence), feed));
            } else {
                // The computed time was slightly early.
                not_yet.push(Reverse((now + Duration::from_millis(1), feed, number)));
            }
        }
        self.filling.extend(not_yet);
    }

    /// Drops stale entries before they far outnumber the feeds.
    pub(crate) fn compact(&mut self) {
        if self.filling.len() > 4 * self.feeds.len() + 1024 {
            let feeds = &self.feeds;
            self.filling.retain(|Reverse((_, feed, n))| feeds[*feed as usize].number == *n);
        }
    }
}

/// Returns when the window is full of new entries: at once for a feed that was never polled.
fn fills_at(tracked: &Tracked) -> Option<Time> {
    let Some(last) = tracked.last else { return Some(Time::from_millis(i64::MIN)) };
    let full = f64::from(tracked.window) * BELOW;
    tracked.believed().until_expected(last, full).map(|secs| early(last, secs))
}
