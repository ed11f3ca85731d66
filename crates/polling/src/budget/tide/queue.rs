//! In which order feeds come up: those who wait, those who are due, and by which price the first
//! were ordered. It reckons no moment and sets no price.
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

/// Before everything: a feed never polled is due since then.
pub(super) const NEVER: Time = Time::from_millis(i64::MIN);

/// Feeds that are passed over, for they may not be polled yet, in search of one that may.
const HELD_MAX: usize = 16;

/// When a feed is due, which one, and the number of its key: stale entries carry an older one.
pub(super) type DueFeed = (Time, u32, u32);

/// The heaps of all feeds.
#[derive(Clone, Debug, Default)]
pub(super) struct TideQueue {
    keys: Vec<HeapKey>,
    waiting: BinaryHeap<Reverse<DueFeed>>,
    /// Those that are due.
    line: BinaryHeap<Reverse<DueFeed>>,
    /// The price by which each waiting feed was ordered, highest first: the bits of a positive
    /// number, feed, key number.
    aims: BinaryHeap<(u64, u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct HeapKey {
    number: u32,
    /// It is not offered before.
    from: Time,
}

impl TideQueue {
    /// Takes a feed out, wherever it is.
    pub(super) fn remove(&mut self, feed: u32) {
        let index = feed as usize;
        if self.keys.len() <= index {
            self.keys.resize(index + 1, HeapKey { number: 0, from: NEVER });
        }
        self.keys[index].number = self.keys[index].number.wrapping_add(1);
        self.keys[index].from = NEVER;
    }

    /// The feed waits until `at`, by this price, and until it may be polled.
    pub(super) fn wait(&mut self, feed: u32, at: Time, price: f64) {
        let key = &mut self.keys[feed as usize];
        key.number = key.number.wrapping_add(1);
        let number = key.number;
        self.waiting.push(Reverse((at.max(key.from), feed, number)));
        self.aims.push((price.to_bits(), feed, number));
    }

    /// The feed, just removed, waits at least until this, whatever the price.
    pub(super) fn hold(&mut self, feed: u32, from: Time) {
        self.keys[feed as usize].from = from;
    }

    pub(super) fn is_fresh(&self, due: &DueFeed) -> bool {
        self.keys[due.1 as usize].number == due.2
    }

    /// At most `n` waiting feeds that were ordered by a price above `price`.
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

    /// At most `n` feeds that have waited long enough; they wait no more.
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

    /// The feed is due.
    pub(super) fn line_up(&mut self, feed: u32, at: Time) {
        let key = &mut self.keys[feed as usize];
        key.number = key.number.wrapping_add(1);
        self.line.push(Reverse((at, feed, key.number)));
    }

    /// A feed that was taken out of the line comes back to its place.
    pub(super) fn line_up_again(&mut self, due: DueFeed) {
        self.line.push(Reverse(due));
    }

    /// Takes out the feed that has been due for longest.
    pub(super) fn first(&mut self) -> Option<DueFeed> {
        while let Some(Reverse(due)) = self.line.pop() {
            if self.is_fresh(&due) {
                return Some(due);
            }
        }
        None
    }

    /// Takes out the feed that has least to wait of those that may be polled now.
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

    /// Stale entries are dropped before they outnumber the feeds by far.
    pub(super) fn compact(&mut self) {
        let room = 4 * self.keys.len() + 1024;
        let keys = &self.keys;
        let is_fresh = |feed: u32, number: u32| keys[feed as usize].number == number;
        for heap in [&mut self.waiting, &mut self.line] {
            if heap.len() > room {
                heap.retain(|Reverse((_, feed, number))| is_fresh(*feed, *number));
            }
        }
        if self.aims.len() > room {
            self.aims.retain(|(_, feed, number)| is_fresh(*feed, *number));
        }
    }
}
