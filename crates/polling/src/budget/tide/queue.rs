//! The queue of feeds: those that wait, those that are due, and the price by which each was
//! ordered. It computes neither times nor prices.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::ModelKind;
//! use std::time::Duration;
//!
//! // Of feeds that were never polled as many come up as may be afforded, the first ones first.
//! let mut planner = Planner::new(Strategy::Tide, Duration::from_secs(60));
//! for _ in 0..9 {
//!     planner.track(Tracked::new(ModelKind::Tide.start()));
//! }
//! planner.set_budget(Some("60/1h".parse().unwrap()));
//! let first: Vec<usize> = (0..3).flat_map(|m| planner.spend(Time::from_secs(60 * m))).collect();
//! assert!(!first.is_empty() && first.is_sorted() && first[0] == 0, "{first:?}");
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use feed::Time;

/// The earliest time: a feed that was never polled is due since then.
pub(super) const NEVER: Time = Time::from_millis(i64::MIN);

/// Feeds that are skipped because they may not be polled yet, in search of one that may.
const HELD_MAX: usize = 16;

/// Due time, feed, and key number; stale entries have an older number.
pub(super) type DueFeed = (Time, u32, u32);

/// The heaps of all feeds.
#[derive(Clone, Debug, Default)]
pub(super) struct TideQueue {
    keys: Vec<HeapKey>,
    waiting: BinaryHeap<Reverse<DueFeed>>,
    /// The feeds that are due.
    due: BinaryHeap<Reverse<DueFeed>>,
    /// The price by which each waiting feed was ordered, highest first: the bits of a positive
    /// number, feed, key number.
    aims: BinaryHeap<(u64, u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct HeapKey {
    number: u32,
    /// The feed is not offered before this time.
    from: Time,
}

impl TideQueue {
    /// Removes a feed from all heaps.
    pub(super) fn remove(&mut self, feed: u32) {
        let index = feed as usize;
        if self.keys.len() <= index {
            self.keys.resize(index + 1, HeapKey { number: 0, from: NEVER });
        }
        self.keys[index].number = self.keys[index].number.wrapping_add(1);
        self.keys[index].from = NEVER;
    }

    /// Lets the feed wait until `at`, by this price, and until it may be polled.
    pub(super) fn wait(&mut self, feed: u32, at: Time, price: f64) {
        let key = &mut self.keys[feed as usize];
        key.number = key.number.wrapping_add(1);
        let number = key.number;
        self.waiting.push(Reverse((at.max(key.from), feed, number)));
        self.aims.push((price.to_bits(), feed, number));
    }

    /// Holds a feed that was just removed until `from`, at any price.
    pub(super) fn hold(&mut self, feed: u32, from: Time) {
        self.keys[feed as usize].from = from;
    }

    pub(super) fn is_fresh(&self, due: &DueFeed) -> bool {
        self.keys[due.1 as usize].number == due.2
    }

    /// Returns at most `n` waiting feeds that were ordered by a price above `price`.
    pub(super) fn ordered_above(&mut self, price: f64, n: usize) -> Vec<u32> {
        let mut feeds = Vec::new();
        while feeds.len() < n
            && let Some(&(aim, feed, number)) = self.aims.peek()
            && f64::from_bits(aim) > price
        {
            self.aims.pop();
            if self.keys[feed as usize].number == number {
                feeds.push(feed);
            }
        }
        feeds
    }

    /// Removes and returns at most `n` feeds whose wait is over.
    pub(super) fn arrived(&mut self, now: Time, n: usize) -> Vec<u32> {
        let mut feeds = Vec::new();
        while feeds.len() < n
            && let Some(&Reverse(due)) = self.waiting.peek()
            && due.0 <= now
        {
            self.waiting.pop();
            if self.is_fresh(&due) {
                feeds.push(due.1);
            }
        }
        feeds
    }

    /// Marks the feed as due.
    pub(super) fn mark_due(&mut self, feed: u32, at: Time) {
        let key = &mut self.keys[feed as usize];
        key.number = key.number.wrapping_add(1);
        self.due.push(Reverse((at, feed, key.number)));
    }

    /// Puts a feed that was taken back among the due ones.
    pub(super) fn return_due(&mut self, due: DueFeed) {
        self.due.push(Reverse(due));
    }

    /// Takes the feed that has been due for longest.
    pub(super) fn first(&mut self) -> Option<DueFeed> {
        while let Some(Reverse(due)) = self.due.pop() {
            if self.is_fresh(&due) {
                return Some(due);
            }
        }
        None
    }

    /// Takes the feed with the shortest remaining wait of those that may be polled now.
    pub(super) fn next(&mut self, now: Time) -> Option<DueFeed> {
        let mut held = Vec::new();
        let mut found = None;
        while found.is_none()
            && held.len() < HELD_MAX
            && let Some(Reverse(due)) = self.waiting.pop()
        {
            if self.is_fresh(&due) {
                let may = self.keys[due.1 as usize].from <= now;
                if may { found = Some(due) } else { held.push(Reverse(due)) }
            }
        }
        self.waiting.extend(held);
        found
    }

    /// Drops stale entries before they far outnumber the feeds.
    pub(super) fn compact(&mut self) {
        let room = 4 * self.keys.len() + 1024;
        let keys = &self.keys;
        let is_fresh = |feed: u32, number: u32| keys[feed as usize].number == number;
        for heap in [&mut self.waiting, &mut self.due] {
            if heap.len() > room {
                heap.retain(|Reverse((_, feed, number))| is_fresh(*feed, *number));
            }
        }
        if self.aims.len() > room {
            self.aims.retain(|(_, feed, number)| is_fresh(*feed, *number));
        }
    }
}
