//! The due times of feeds under the strategies that allocate polls per day.
//!
//! The allocation is repeated once a day, when the budget changes, and an hour after feeds came,
//! went or changed their weight. Feeds wait in a heap until they are due, and the longest overdue
//! goes first. Between two allocations each feed follows its own [`FeedSchedule`]. No feed is
//! polled more than once a cycle.
//!
//! ```
//! use feed::Time;
//! use polling::budget::{Planner, Strategy, Tracked};
//! use polling::model::ModelKind;
//! use std::time::Duration;
//!
//! let mut planner = Planner::new(Strategy::LambdaCrawl, Duration::from_secs(60));
//! let feeds: Vec<usize> =
//!     (0..3).map(|_| planner.track(Tracked::new(ModelKind::Window.start()))).collect();
//! // Never polled, all are due at once; the budget takes two and leaves one for the next cycle.
//! assert_eq!(planner.plan(Time::from_secs(0), 2), feeds[..2]);
//! assert_eq!(planner.plan(Time::from_secs(60), 2), feeds[2..]);
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use feed::Time;

use super::feed_schedule::{DAYS_MAX, FeedSchedule};
use super::shared_profiles::SharedProfiles;
use crate::budget::allocation::{DailyLimits, per_day_at_most, points};
use crate::budget::{ProfileChoice, Strategy, Tracked};

/// The time between two allocations.
const ALLOCATED_FOR: Duration = Duration::from_secs(86_400);
/// The time from a change of feeds or weights to the next allocation.
const CHANGES_WAIT: Duration = Duration::from_secs(3600);
/// The polls per day of a new feed until then.
const POLLS_MEANWHILE: f64 = 24.0;

/// The longest interval without a floor: ten thousand years.
const DAYS_UNLIMITED: f64 = 3_652_500.0;

/// The earliest time: a feed that was never polled is due since then.
const NEVER: Time = Time::from_millis(i64::MIN);
/// Computing the points of a day takes a millisecond, so the computations for all feeds are spread
/// over this time, in seconds.
const SEARCHES_SPREAD: f64 = 20.0 * 3600.0;
/// The computations that are always allowed at once, and per second: a few thousand feeds never
/// wait.
const SEARCHES: (f64, f64) = (1000.0, 10.0);

/// The state of the allocating strategies.
#[derive(Clone, Debug)]
pub(crate) struct Timetable {
    made_at: Time,
    limits: DailyLimits,
    /// The time between two plans, if known.
    cycle: Option<Duration>,
    /// The longest interval in days.
    days_max: f64,
    /// Something changed that the next allocation must consider.
    changed: bool,
    rhythms: Vec<FeedSchedule>,
    /// Due time, feed, key number.
    due: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// Stale entries of the heap have an older number.
    keyed: Vec<u32>,
    /// When the last poll of each feed was due.
    taken: Vec<Time>,
    /// The computations of points that are allowed now, and the time of that count.
    searches: (f64, Time),
    profiles: SharedProfiles,
}

impl Timetable {
    pub(crate) fn new(limits: DailyLimits) -> Timetable {
        Timetable {
            made_at: NEVER,
            limits,
            cycle: None,
            days_max: DAYS_MAX,
            changed: true,
            rhythms: Vec::new(),
            due: BinaryHeap::new(),
            keyed: Vec::new(),
            taken: Vec::new(),
            searches: (SEARCHES.0, Time::from_millis(i64::MAX)),
            profiles: SharedProfiles::default(),
        }
    }

    pub(crate) fn set_cycle(&mut self, cycle: Option<Duration>) {
        self.cycle = cycle;
    }

    /// Sets whether every feed with a value is polled at least once in 28 days.
    pub(crate) fn set_floor(&mut self, floor: bool) {
        self.days_max = if floor { DAYS_MAX } else { DAYS_UNLIMITED };
    }

    pub(crate) fn set_profiles(&mut self, choice: ProfileChoice) {
        self.profiles.set_choice(choice);
    }

    pub(crate) fn is_fresh(&self, now: Time, limits: DailyLimits) -> bool {
        let age = now.since(self.made_at);
        self.limits == limits
            && age < ALLOCATED_FOR
            && now >= self.made_at
            && !(self.changed && age >= CHANGES_WAIT)
    }

    /// Allocates polls to all feeds. `from` is the time from which each may be offered.
    pub(crate) fn allocate(
        &mut self,
        strategy: Strategy,
        feeds: &[Tracked],
        from: &[Option<Time>],
        now: Time,
        limits: DailyLimits,
    ) {
        (self.made_at, self.limits, self.changed) = (now, limits, false);
        self.profiles.fit(feeds);
        let plans = |cycle: Duration| ALLOCATED_FOR.as_secs_f64() / cycle.as_secs_f64();
        let polls =
            per_day_at_most(strategy, feeds, limits, self.cycle.map_or(f64::INFINITY, plans));
        let points = points(strategy, &polls);
        self.rhythms.resize(feeds.len(), FeedSchedule::default());
        self.keyed.resize(feeds.len(), 0);
        self.taken.resize(feeds.len(), NEVER);
        for (feed, rhythm) in self.rhythms.iter_mut().enumerate() {
            rhythm.allot(polls[feed], points.as_ref().map_or(0, |points| points[feed]));
        }
        let mut due = Vec::with_capacity(feeds.len());
        for (feed, from) in from.iter().enumerate() {
            self.keyed[feed] = self.keyed[feed].wrapping_add(1);
            if let (Some(from), Some(at)) = (from, self.due_at(feed, &feeds[feed])) {
                due.push(Reverse((at.max(*from), feed as u32, self.keyed[feed])));
            }
        }
        self.due = BinaryHeap::from(due);
    }

    /// Takes at most `n` due feeds, the longest overdue first.
    pub(crate) fn take(&mut self, now: Time, n: usize) -> Vec<usize> {
        let (left, since) = self.searches;
        let per_sec = SEARCHES.1 + self.rhythms.len() as f64 / SEARCHES_SPREAD;
        let earned = per_sec * now.since(since).as_secs_f64();
        self.searches = ((left + earned).min(SEARCHES.0.max(60.0 * per_sec)), now);
        let mut chosen = Vec::new();
        while chosen.len() < n
            && let Some(&Reverse((at, feed, keyed))) = self.due.peek()
            && at <= now
        {
            self.due.pop();
            let feed = feed as usize;
            if self.keyed[feed] == keyed {
                self.keyed[feed] = keyed.wrapping_add(1);
                self.taken[feed] = at;
                chosen.push(feed);
            }
        }
        chosen
    }

    /// Takes a feed out of the queue until it is offered again.
    pub(crate) fn withdraw(&mut self, feed: usize) {
        if let Some(keyed) = self.keyed.get_mut(feed) {
            *keyed = keyed.wrapping_add(1);
        }
    }

    /// A feed that was never polled is due at once, unless it gets no polls.
    fn due_at(&self, feed: usize, tracked: &Tracked) -> Option<Time> {
        let rhythm = self.rhythms.get(feed).filter(|rhythm| rhythm.polls() > 0.0)?;
        let cycle = self.cycle.unwrap_or_default();
        let next = |last| rhythm.next(self.taken[feed], last, cycle, self.days_max);
        tracked.last.map_or(Some(NEVER), next)
    }

    /// Returns when a feed is due, and its polls per day.
    pub(crate) fn next_due(&self, feed: usize, tracked: &Tracked) -> Option<(Time, f64)> {
        Some((self.due_at(feed, tracked)?, self.rhythms.get(feed)?.polls()))
    }

    /// Queues a feed that was observed or held for its next poll.
    pub(crate) fn offer(&mut self, feed: usize, tracked: &Tracked, from: Time) {
        if self.rhythms.len() <= feed {
            self.rhythms.resize(feed + 1, FeedSchedule::even(POLLS_MEANWHILE));
            self.keyed.resize(feed + 1, 0);
            self.taken.resize(feed + 1, NEVER);
            self.changed = true;
        }
        self.keyed[feed] = self.keyed[feed].wrapping_add(1);
        if self.searches.0 >= 1.0 && self.rhythms[feed].lacks_points(&tracked.model) {
            self.searches.0 -= 1.0;
            self.rhythms[feed].schedule(&self.profiles.day(&tracked.model));
        }
        if let Some(at) = self.due_at(feed, tracked) {
            self.due.push(Reverse((at.max(from), feed as u32, self.keyed[feed])));
        }
        if self.due.len() > 4 * self.keyed.len() + 1024 {
            let keyed = &self.keyed;
            self.due.retain(|Reverse((_, feed, k))| keyed[*feed as usize] == *k);
        }
    }

    /// Sets another value of a feed's entries. Zero stops its polls at once. A feed that had none
    /// is polled until the next allocation.
    pub(crate) fn revalue(&mut self, feed: usize, value: f64) {
        self.changed = true;
        let Some(rhythm) = self.rhythms.get_mut(feed) else { return };
        if value <= 0.0 {
            *rhythm = FeedSchedule::default();
            self.keyed[feed] = self.keyed[feed].wrapping_add(1);
        } else if rhythm.polls() <= 0.0 {
            *rhythm = FeedSchedule::even(POLLS_MEANWHILE);
        }
    }
}
