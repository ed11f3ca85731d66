//! Simulated polls of one feed.
//!
//! A poll at τ shows the last |W| entries that appeared at or before τ. They are a range of a
//! sorted array, so an [`Observation`] borrows them. An entry is new if no poll saw it before, also
//! if a window grows again and shows older entries. If windows vary or entries claim wrong times,
//! [`feed::repair`] repairs the times as live polls do. A test checks that live polls give the same
//! observations.
//!
//! The output is windows only. Policies must not know which entries were missed.

use std::ops::Range;

use feed::{DocumentDates, Item, Observation, Outcome, Time};
use polling::relevance::Relevant;

use crate::{World, WorldFeed};

/// A feed of a world with the state of its polls.
#[derive(Debug)]
pub struct PolledFeed<'w> {
    feed: &'w WorldFeed,
    /// The window size for a feed without its own.
    window_default: u32,
    polled_at: Option<Time>,
    /// The windows of the last two polls, as entry numbers.
    shown: Range<usize>,
    shown_before: Range<usize>,
    /// The last window that was not empty. Some feeds alternate with an empty window, which must
    /// not look like a miss.
    compared: Range<usize>,
    changed: bool,
    /// The entries that appeared since the last poll and are shown.
    new: Range<usize>,
    /// The current steps of window and document sizes.
    window_step: usize,
    size_step: usize,
    /// Entries that left the window unseen, oldest first; kept only if windows vary.
    holes: Vec<Range<usize>>,
    /// Entries of `holes` that the last poll saw.
    returned: Vec<Range<usize>>,
    /// Whether times are repaired and may differ from those of the trace.
    repairs: bool,
    repaired: RepairedTimes,
}

/// Repaired times.
#[derive(Debug, Default)]
struct RepairedTimes {
    /// The time of each entry seen so far, by number.
    by_entry: Vec<Time>,
    window: Vec<Time>,
    new: Vec<Time>,
    late: Vec<Time>,
}

impl<'w> PolledFeed<'w> {
    pub fn new(world: &World, feed: &'w WorldFeed) -> PolledFeed<'w> {
        PolledFeed {
            feed,
            window_default: world.window,
            polled_at: None,
            shown: 0..0,
            shown_before: 0..0,
            compared: 0..0,
            changed: false,
            new: 0..0,
            window_step: 0,
            size_step: 0,
            holes: Vec::new(),
            returned: Vec::new(),
            repairs: feed.has_claims() || feed.windows().len() > 1,
            repaired: RepairedTimes::default(),
        }
    }

    /// Polls the feed. Times must not decrease.
    #[inline]
    pub fn poll(&mut self, at: Time) {
        let end = appeared(self.feed.visible(), self.shown.end, at);
        advance(self.feed.windows(), &mut self.window_step, at);
        advance(self.feed.sizes(), &mut self.size_step, at);
        let start = end.saturating_sub(self.window_max() as usize);
        self.shown_before = std::mem::replace(&mut self.shown, start..end);
        self.new = start.max(self.shown_before.end)..end;
        if !self.shown_before.is_empty() {
            self.compared = self.shown_before.clone();
        }
        if self.repairs {
            self.find_returned();
            self.repair_times(at);
        }
        self.changed = self.polled_at.is_none() || self.shown_before != self.shown;
        self.polled_at = Some(at);
    }

    /// Returns the observation of the last poll; `None` before the first.
    #[inline]
    pub fn observation(&self) -> Option<Observation<'_>> {
        let (shown, before) = (&self.shown, &self.compared);
        let overlap = before.end.min(shown.end).saturating_sub(before.start.max(shown.start));
        let (window, new) = if self.repairs {
            (&self.repaired.window[..], &self.repaired.new[..])
        } else {
            (&self.feed.visible()[shown.clone()], &self.feed.visible()[self.new.clone()])
        };
        Some(Observation {
            at: self.polled_at?,
            outcome: if self.changed { Outcome::Seen } else { Outcome::Unchanged },
            window,
            new,
            overlap,
            suspected_miss: overlap == 0 && !before.is_empty() && !shown.is_empty(),
            partial: false,
            late: &self.repaired.late,
        })
    }

    /// Returns the wanted part of an observation of the last poll; `None` if all are wanted.
    pub(crate) fn wanted<'o>(&self, seen: &Observation<'o>) -> Option<Relevant<'o>> {
        let relevance = self.feed.relevance()?;
        let marks = |entries: &mut dyn Iterator<Item = usize>| -> Vec<bool> {
            if !self.repairs {
                return entries.map(|entry| relevance.is_wanted(entry)).collect();
            }
            // The observation is in the order of the repaired times.
            let mut timed: Vec<(Time, bool)> = entries
                .map(|entry| (self.repaired.by_entry[entry], relevance.is_wanted(entry)))
                .collect();
            timed.sort_by_key(|(time, _)| *time);
            timed.into_iter().map(|(_, is_wanted)| is_wanted).collect()
        };
        let in_window = marks(&mut self.shown.clone());
        let in_new = marks(&mut self.found());
        Some(Relevant::of(seen, &in_window, &in_new))
    }

    /// Returns the numbers of the entries that the last poll saw for the first time.
    #[inline]
    pub fn found(&self) -> impl Iterator<Item = usize> {
        self.returned.iter().cloned().flatten().chain(self.new.clone())
    }

    /// Returns the entries that appeared between the last two polls, seen or missed.
    #[inline]
    pub fn appeared(&self) -> Range<usize> {
        self.shown_before.end..self.shown.end
    }

    /// Returns the window of the last poll.
    #[inline]
    pub fn shown(&self) -> Range<usize> {
        self.shown.clone()
    }

    /// Returns the window size since the last poll.
    #[inline]
    pub fn window_max(&self) -> u32 {
        step(self.feed.windows(), self.window_step).unwrap_or(self.window_default)
    }

    /// Returns the size of the document in bytes, if the trace has it.
    #[inline]
    pub fn document_bytes(&self) -> Option<u32> {
        step(self.feed.sizes(), self.size_step)
    }

    /// Finds unseen entries that a grown window shows again.
    fn find_returned(&mut self) {
        self.returned.clear();
        let (start, passed_from) = (self.shown.start, self.shown_before.end);
        while let Some(hole) = self.holes.last_mut().filter(|hole| hole.end > start) {
            let seen = hole.start.max(start)..hole.end;
            hole.end = seen.start;
            if hole.start >= hole.end {
                self.holes.pop();
            }
            self.returned.insert(0, seen);
        }
        if passed_from < start {
            self.holes.push(passed_from..start);
        }
    }

    /// Repairs the times of new entries, and sorts the window by them.
    fn repair_times(&mut self, at: Time) {
        let RepairedTimes { by_entry, window, new, late } = &mut self.repaired;
        by_entry.resize(self.shown.end, at);
        new.clear();
        late.clear();
        for entry in self.returned.iter().cloned().flatten().chain(self.new.clone()) {
            let item = Item { published: self.feed.claim(entry), ..Item::default() };
            let dates = DocumentDates::default();
            by_entry[entry] = feed::repair(&item, dates, at, self.polled_at).at;
            new.push(by_entry[entry]);
            late.extend(feed::late(&item, dates, self.polled_at));
        }
        window.clear();
        window.extend_from_slice(&by_entry[self.shown.clone()]);
        window.sort_unstable();
        new.sort_unstable();
        late.sort_unstable();
    }
}

/// Returns how many of `times` are at or before `at`; at least `known` are. The steps double,
/// because polls are mostly a few entries apart. The cost is at most twice a binary search.
#[inline]
fn appeared(times: &[Time], known: usize, at: Time) -> usize {
    let (mut low, mut step) = (known, 1);
    while low + step <= times.len() && times[low + step - 1] <= at {
        low += step;
        step *= 2;
    }
    let high = (low + step - 1).min(times.len());
    low + times[low..high].partition_point(|t| *t <= at)
}

/// Moves to the last step at or before `at`. Before the first step, the first one holds.
#[inline]
fn advance(steps: &[(Time, u32)], current: &mut usize, at: Time) {
    while steps.get(*current + 1).is_some_and(|(from, _)| *from <= at) {
        *current += 1;
    }
}

#[inline]
fn step(steps: &[(Time, u32)], current: usize) -> Option<u32> {
    steps.get(current).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(s: i64) -> Time {
        Time::from_secs(s)
    }

    fn world(window: u32) -> World {
        World { window, ..World::default() }
    }

    fn found(polled: &mut PolledFeed<'_>, at: i64) -> Vec<usize> {
        polled.poll(secs(at));
        polled.found().collect()
    }

    /// Figure 4.7: a window of four grows to six and shows an entry again that was seen before.
    #[test]
    fn an_entry_that_comes_back_is_not_new() {
        let entries = (0..7).map(|h| secs(3600 * (h + 1))).collect();
        let feed = WorldFeed::new("a", entries).with_windows(vec![(secs(0), 4), (secs(27_000), 6)]);
        let mut polled = PolledFeed::new(&world(20), &feed);
        let per_poll = [1800, 5400, 19_800, 23_400, 27_900].map(|at| found(&mut polled, at).len());
        assert_eq!(per_poll, [0, 1, 4, 1, 1]);
        assert_eq!(polled.shown(), 1..7);
    }

    #[test]
    fn an_entry_passed_over_is_new_when_the_window_grows() {
        let entries = (1..=10).map(secs).collect();
        let windows = vec![(secs(0), 2), (secs(11), 5), (secs(12), 0), (secs(13), 9)];
        let feed = WorldFeed::new("a", entries).with_windows(windows);
        let mut polled = PolledFeed::new(&world(20), &feed);
        assert_eq!(found(&mut polled, 4), [2, 3]);
        assert_eq!(found(&mut polled, 10), [8, 9]);
        assert_eq!(found(&mut polled, 11), [5, 6, 7]);
        let seen = polled.observation().unwrap();
        // They are older than the last poll and yet new, so their dates are repaired as in live
        // polls.
        assert_eq!((seen.new, seen.overlap), (&[11, 11, 11].map(secs)[..], 2));
        assert_eq!(seen.window, [9, 10, 11, 11, 11].map(secs));
        assert!(found(&mut polled, 12).is_empty());
        assert_eq!(found(&mut polled, 13), [1, 4]);
    }

    #[test]
    fn an_unchanged_window_says_so_and_a_gap_is_suspected() {
        let feed = WorldFeed::new("a", (1..=9).map(|i| secs(10 * i)).collect());
        let mut polled = PolledFeed::new(&world(3), &feed);
        assert_eq!(polled.observation(), None);
        let outcomes = [30, 35, 60, 61, 90].map(|at| {
            polled.poll(secs(at));
            let o = polled.observation().unwrap();
            (o.outcome, o.overlap, o.suspected_miss)
        });
        let (seen, unchanged) = (Outcome::Seen, Outcome::Unchanged);
        let expect = [
            (seen, 0, false),
            (unchanged, 3, false),
            (seen, 0, true),
            (unchanged, 3, false),
            (seen, 0, true),
        ];
        assert_eq!(outcomes, expect);
    }

    #[test]
    fn claims_are_repaired_as_they_are_live() {
        let mut builder = crate::WorldBuilder::default();
        let number = builder.feed("a");
        // Visible late, correct, undated, and dated in the future.
        let rows = [(100, Some(10)), (210, Some(205)), (220, None), (230, Some(900))];
        for (visible, claim) in rows {
            let (visible, claim) = (secs(visible), claim.map(secs));
            let row = crate::TraceRow { visible, claim, window: None, bytes: None };
            builder.entry(number, row);
        }
        let world = builder.finish(20);
        let mut polled = PolledFeed::new(&world, &world.feeds[0]);
        polled.poll(secs(150));
        assert_eq!(polled.observation().unwrap().window, [secs(10)]);
        polled.poll(secs(300));
        let o = polled.observation().unwrap();
        assert_eq!(o.new, [205, 300, 300].map(secs));
        assert_eq!(o.window, [10, 205, 300, 300].map(secs));
        assert!(o.late.is_empty(), "undated and dated ahead are not late");
    }

    #[test]
    fn what_was_not_there_though_it_claims_to_be_older_is_late() {
        let mut builder = crate::WorldBuilder::default();
        let number = builder.feed("a");
        for (visible, claim) in [(100, 10), (210, 205), (220, 140), (230, 20)] {
            let (visible, claim) = (secs(visible), Some(secs(claim)));
            builder.entry(number, crate::TraceRow { visible, claim, window: None, bytes: None });
        }
        let world = builder.finish(20);
        let mut polled = PolledFeed::new(&world, &world.feeds[0]);
        polled.poll(secs(150));
        assert!(polled.observation().unwrap().late.is_empty(), "nobody looked before");
        polled.poll(secs(300));
        let o = polled.observation().unwrap();
        assert_eq!((o.new, o.late), (&[205, 300, 300].map(secs)[..], &[20, 140].map(secs)[..]));
        polled.poll(secs(400));
        assert!(polled.observation().unwrap().late.is_empty(), "late once");
    }

    #[test]
    fn what_appeared_is_found_by_steps_as_by_search() {
        let times: Vec<Time> = (0..1000).map(|i| secs(i / 3 * 7)).collect();
        for known in [0, 1, 500, 999, 1000] {
            for at in -1..2400 {
                let expect = times.partition_point(|t| *t <= secs(at)).max(known);
                let from = known.min(times.partition_point(|t| *t <= secs(at)));
                assert_eq!(appeared(&times, from, secs(at)).max(known), expect);
            }
        }
    }
}
