//! The strategies that allocate looks per day and space them: when each feed is due.
//!
//! The allocation is made once a day and when the budget changes; feeds wait in a heap until they
//! are due, and the longest overdue goes first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use feed::Time;

use super::rhythm::{Rhythm, rhythms};
use super::{Strategy, Tracked};

/// Allocations follow the models once a day.
const ALLOCATED_FOR: Duration = Duration::from_secs(86_400);
const DAY_SECS: f64 = 86_400.0;

/// What the allocating strategies keep.
#[derive(Clone, Debug)]
pub(crate) struct Timetable {
    made_at: Time,
    budget: usize,
    rhythms: Vec<Rhythm>,
    /// Moment, feed, key number.
    due: BinaryHeap<Reverse<(Time, usize, u32)>>,
    /// Stale entries of the heap carry an older number.
    keyed: Vec<u32>,
}

impl Timetable {
    /// Allocates `budget` looks per `cycle` to the feeds; none of them is offered yet.
    pub(crate) fn new(
        strategy: Strategy,
        feeds: &[Tracked],
        now: Time,
        budget: usize,
        cycle: Duration,
    ) -> Timetable {
        let per_day = budget as f64 * DAY_SECS / cycle.as_secs_f64();
        let rhythms = rhythms(strategy, feeds, per_day);
        let (due, keyed) = (BinaryHeap::new(), vec![0; feeds.len()]);
        Timetable { made_at: now, budget, rhythms, due, keyed }
    }

    pub(crate) fn is_fresh(&self, now: Time, budget: usize) -> bool {
        self.budget == budget && now.since(self.made_at) < ALLOCATED_FOR
    }

    /// At most `n` feeds that are due, the longest overdue first.
    pub(crate) fn take(&mut self, now: Time, n: usize) -> Vec<usize> {
        let mut chosen = Vec::new();
        while chosen.len() < n
            && let Some(&Reverse((at, feed, keyed))) = self.due.peek()
            && at <= now
        {
            self.due.pop();
            if self.keyed[feed] == keyed {
                self.keyed[feed] += 1;
                chosen.push(feed);
            }
        }
        chosen
    }

    fn due_at(&self, feed: usize, tracked: &Tracked) -> Option<Time> {
        match (self.rhythms.get(feed), tracked.last) {
            (Some(Rhythm::Never), _) => None,
            // A feed never polled, or added since the allocation, is due at once.
            (_, None) | (None, _) => Some(Time::from_millis(i64::MIN)),
            (Some(rhythm), Some(last)) => rhythm.next(last),
        }
    }

    pub(crate) fn offer(&mut self, feed: usize, tracked: &Tracked, from: Time) {
        if self.keyed.len() <= feed {
            self.keyed.resize(feed + 1, 0);
        }
        self.keyed[feed] += 1;
        if let Some(at) = self.due_at(feed, tracked) {
            self.due.push(Reverse((at.max(from), feed, self.keyed[feed])));
        }
    }
}
