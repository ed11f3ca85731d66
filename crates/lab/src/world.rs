//! The simulated web: the times at which the entries of each feed appear, and window sizes.
//!
//! Policies do not see a world. They see the windows that [`PolledFeed`](crate::PolledFeed) shows.
//! A world takes 8 bytes per entry, or 16 if an entry claims another time. So the 33 million
//! entries of the published evaluation fit into the memory of a laptop.

pub mod history;
pub mod known_rates;
mod polled_feed;
mod relevance;
pub mod stats;
pub mod synth;
pub mod trace;
pub mod visibility_lag;

use std::collections::HashMap;
use std::time::Duration;

use feed::Time;

pub use polled_feed::PolledFeed;
pub use relevance::EntryRelevance;

/// Feeds with their histories.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub feeds: Vec<WorldFeed>,
    /// The window size of feeds without their own.
    pub window: u32,
    /// The feeds of each registrable domain. A feed without a domain forms its own group.
    pub domains: Vec<Vec<usize>>,
}

/// One feed of a world.
#[derive(Clone, Debug, Default)]
pub struct WorldFeed {
    pub name: Box<str>,
    pub title: Box<str>,
    /// The weight of its entries compared with those of other feeds.
    pub weight: f64,
    pub ttl: Option<Duration>,
    /// Whether a document dates all its entries with the time of the request. Only statistics use
    /// it: policies see the times of the trace.
    pub dated_on_request: bool,
    /// The time at which each entry appeared, oldest first.
    visible: Vec<Time>,
    /// The time that each entry claims, if any differ; [`UNDATED`] for an entry without a date.
    claims: Option<Box<[Time]>>,
    /// Window sizes, each with the time from which it holds. Empty: the size of the world.
    windows: Vec<(Time, u32)>,
    /// Document sizes in bytes, each with the time from which it holds. Empty: unknown.
    sizes: Vec<(Time, u32)>,
    /// The wanted entries, if the trace or queries tell them. Otherwise all are.
    relevance: Option<EntryRelevance>,
}

/// The claim of an entry without a date. A trace cannot express this moment.
const UNDATED: Time = Time::from_millis(i64::MIN);

impl World {
    /// Returns the times of the first and the last entry.
    pub fn span(&self) -> Option<(Time, Time)> {
        let first = self.feeds.iter().filter_map(|f| f.visible.first()).min()?;
        let last = self.feeds.iter().filter_map(|f| f.visible.last()).max()?;
        Some((*first, *last))
    }

    pub fn n_entries(&self) -> usize {
        self.feeds.iter().map(|f| f.visible.len()).sum()
    }

    /// Returns whether some entries are known to be wanted and others not.
    pub fn has_relevance(&self) -> bool {
        self.feeds.iter().any(|feed| feed.relevance.is_some())
    }
}

impl WorldFeed {
    /// Creates a feed whose entries appear at the times that they claim.
    pub fn new(name: &str, mut times: Vec<Time>) -> WorldFeed {
        times.sort_unstable();
        WorldFeed { name: name.into(), weight: 1.0, visible: times, ..WorldFeed::default() }
    }

    /// Sets window sizes, each with the time from which it holds.
    pub fn with_windows(mut self, windows: Vec<(Time, u32)>) -> WorldFeed {
        self.windows = windows;
        self.windows.sort_by_key(|(from, _)| *from);
        self
    }

    /// Sets which entries are wanted, in the order of their appearance.
    pub fn with_relevance(mut self, wanted: Vec<bool>) -> WorldFeed {
        self.relevance = Some(EntryRelevance::new(wanted));
        self
    }

    /// Returns the wanted entries; `None` if all are.
    pub fn relevance(&self) -> Option<&EntryRelevance> {
        self.relevance.as_ref()
    }

    pub fn visible(&self) -> &[Time] {
        &self.visible
    }

    /// Returns the entries from `from` until before `to`.
    pub(crate) fn between(&self, from: Time, to: Time) -> &[Time] {
        let n_before = |at: Time| self.visible.partition_point(|t| *t < at);
        &self.visible[n_before(from)..n_before(to).max(n_before(from))]
    }

    /// Returns whether any entry claims another time than that of its appearance.
    pub fn has_claims(&self) -> bool {
        self.claims.is_some()
    }

    /// Returns the publication time that an entry claims.
    pub fn claim(&self, entry: usize) -> Option<Time> {
        match &self.claims {
            None => Some(self.visible[entry]),
            Some(claims) => Some(claims[entry]).filter(|t| *t != UNDATED),
        }
    }

    pub fn windows(&self) -> &[(Time, u32)] {
        &self.windows
    }

    pub fn sizes(&self) -> &[(Time, u32)] {
        &self.sizes
    }
}

/// One entry of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceRow {
    pub visible: Time,
    pub claim: Option<Time>,
    pub window: Option<u32>,
    pub bytes: Option<u32>,
}

/// A world under construction. Entries come in any order.
#[derive(Debug, Default)]
pub struct WorldBuilder {
    drafts: Vec<FeedDraft>,
    by_name: HashMap<Box<str>, usize>,
    domains: HashMap<Box<str>, usize>,
    /// The feed of the last row, because most traces are written feed by feed.
    last: usize,
}

#[derive(Debug, Default)]
struct FeedDraft {
    feed: WorldFeed,
    domain: Option<usize>,
    /// One for each of the first entries; empty while all entries are plain.
    extras: Vec<RowExtras>,
    /// The wanted entries by their numbers, in the order of adding.
    wanted: Vec<usize>,
    /// Whether anything said which entries are wanted.
    is_judged: bool,
}

/// The values of a row other than the time; `u32::MAX` for a missing one.
#[derive(Clone, Copy, Debug)]
struct RowExtras {
    claim: Time,
    window: u32,
    bytes: u32,
}

const UNSAID: u32 = u32::MAX;

impl WorldBuilder {
    /// Returns the number of the feed with this name; adds the feed if it is new.
    pub fn feed(&mut self, name: &str) -> usize {
        if self.drafts.get(self.last).is_some_and(|d| *d.feed.name == *name) {
            return self.last;
        }
        self.last = match self.by_name.get(name) {
            Some(number) => *number,
            None => {
                let number = self.drafts.len();
                let feed = WorldFeed { name: name.into(), weight: 1.0, ..WorldFeed::default() };
                self.drafts.push(FeedDraft { feed, ..FeedDraft::default() });
                self.by_name.insert(name.into(), number);
                number
            }
        };
        self.last
    }

    /// Adds an entry to a feed. Returns its number there, in the order of adding.
    pub fn entry(&mut self, feed: usize, row: TraceRow) -> usize {
        let draft = &mut self.drafts[feed];
        let extra = RowExtras {
            claim: row.claim.unwrap_or(UNDATED),
            window: row.window.unwrap_or(UNSAID),
            bytes: row.bytes.unwrap_or(UNSAID),
        };
        let plain = row.claim == Some(row.visible) && row.window.is_none() && row.bytes.is_none();
        if !plain || !draft.extras.is_empty() {
            draft.fill_extras();
            draft.extras.push(extra);
        }
        draft.feed.visible.push(row.visible);
        draft.feed.visible.len() - 1
    }

    /// Sets whether an entry is wanted. Entries of the same feed without this are not.
    pub fn judge(&mut self, feed: usize, entry: usize, is_wanted: bool) {
        let draft = &mut self.drafts[feed];
        draft.is_judged = true;
        if is_wanted {
            draft.wanted.push(entry);
        }
    }

    pub fn ttl(&mut self, feed: usize, ttl: Duration) {
        self.drafts[feed].feed.ttl = Some(ttl);
    }

    pub fn dated_on_request(&mut self, feed: usize) {
        self.drafts[feed].feed.dated_on_request = true;
    }

    pub fn weight(&mut self, feed: usize, weight: f64) {
        self.drafts[feed].feed.weight = weight;
    }

    pub fn title(&mut self, feed: usize, title: &str) {
        let known = &mut self.drafts[feed].feed.title;
        if known.is_empty() && !title.is_empty() {
            *known = title.into();
        }
    }

    /// Sets the domain of a feed. The last one counts; an empty name is ignored.
    pub fn domain(&mut self, feed: usize, domain: &str) {
        if domain.is_empty() {
            return;
        }
        let n = self.domains.len();
        let number = match self.domains.get(domain) {
            Some(number) => *number,
            None => *self.domains.entry(domain.into()).or_insert(n),
        };
        self.drafts[feed].domain = Some(number);
    }

    /// Finishes the world. `window` is the default window size.
    pub fn finish(self, window: u32) -> World {
        let mut domains = vec![Vec::new(); self.domains.len()];
        let mut feeds = Vec::with_capacity(self.drafts.len());
        for (number, draft) in self.drafts.into_iter().enumerate() {
            match draft.domain {
                Some(domain) => domains[domain].push(number),
                None => domains.push(vec![number]),
            }
            feeds.push(draft.finish());
        }
        // Sort by the first feed, so that the order does not depend on the names.
        domains.retain(|feeds| !feeds.is_empty());
        domains.sort_unstable_by_key(|feeds| feeds[0]);
        World { feeds, window, domains }
    }
}

impl FeedDraft {
    /// Adds empty extras for earlier plain entries.
    fn fill_extras(&mut self) {
        let plain = &self.feed.visible[self.extras.len()..];
        self.extras.extend(plain.iter().map(|t| RowExtras {
            claim: *t,
            window: UNSAID,
            bytes: UNSAID,
        }));
    }

    fn finish(mut self) -> WorldFeed {
        if self.is_judged {
            // The order of the entries must be known to the end.
            self.fill_extras();
        }
        let mut feed = self.feed;
        if self.extras.is_empty() {
            feed.visible.sort_unstable();
            feed.visible.shrink_to_fit();
            return feed;
        }
        let numbered = feed.visible.drain(..).zip(self.extras.drain(..)).enumerate();
        let mut rows: Vec<(Time, RowExtras, usize)> =
            numbered.map(|(number, (visible, extra))| (visible, extra, number)).collect();
        rows.sort_by_key(|(visible, extra, _)| (*visible, extra.claim));
        feed.visible = rows.iter().map(|row| row.0).collect();
        if rows.iter().any(|(visible, extra, _)| *visible != extra.claim) {
            feed.claims = Some(rows.iter().map(|row| row.1.claim).collect());
        }
        feed.windows = steps(rows.iter().map(|(at, extra, _)| (*at, extra.window)));
        feed.sizes = steps(rows.iter().map(|(at, extra, _)| (*at, extra.bytes)));
        if self.is_judged {
            let mut wanted = vec![false; rows.len()];
            self.wanted.iter().for_each(|number| wanted[*number] = true);
            let sorted = rows.iter().map(|(_, _, number)| wanted[*number]).collect();
            feed.relevance = Some(EntryRelevance::new(sorted));
        }
        feed
    }
}

/// Returns the values with the times from which they hold.
fn steps(values: impl Iterator<Item = (Time, u32)>) -> Vec<(Time, u32)> {
    let mut steps: Vec<(Time, u32)> = Vec::new();
    for (at, value) in values.filter(|(_, value)| *value != UNSAID) {
        match steps.last_mut() {
            Some((_, last)) if *last == value => {}
            // If several rows have the same time, the last one counts.
            Some((from, last)) if *from == at => *last = value,
            _ => steps.push((at, value)),
        }
    }
    steps.shrink_to_fit();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(visible: i64, claim: Option<i64>, window: Option<u32>) -> TraceRow {
        let claim = claim.map(Time::from_secs);
        TraceRow { visible: Time::from_secs(visible), claim, window, bytes: None }
    }

    #[test]
    fn rows_of_any_order_become_sorted_feeds() {
        let mut builder = WorldBuilder::default();
        for (name, at) in [("b", 30), ("a", 20), ("b", 10), ("a", 5)] {
            let feed = builder.feed(name);
            builder.entry(feed, row(at, Some(at), None));
        }
        let world = builder.finish(20);
        assert_eq!(world.feeds[0].visible(), [10, 30].map(Time::from_secs));
        assert_eq!(&*world.feeds[1].name, "a");
        assert_eq!(world.span(), Some((Time::from_secs(5), Time::from_secs(30))));
        assert!(!world.feeds[0].has_claims());
    }

    #[test]
    fn extras_stay_with_their_entries_also_after_plain_ones() {
        let mut builder = WorldBuilder::default();
        let feed = builder.feed("a");
        builder.entry(feed, row(50, Some(50), None));
        builder.entry(feed, row(40, Some(10), Some(3)));
        builder.entry(feed, row(45, None, Some(3)));
        builder.entry(feed, row(60, Some(60), Some(7)));
        let world = builder.finish(20);
        let a = &world.feeds[0];
        assert_eq!(a.visible(), [40, 45, 50, 60].map(Time::from_secs));
        let claims = (0..4).map(|i| a.claim(i).map(Time::secs)).collect::<Vec<_>>();
        assert_eq!(claims, [Some(10), None, Some(50), Some(60)]);
        assert_eq!(a.windows(), [(Time::from_secs(40), 3), (Time::from_secs(60), 7)]);
    }

    #[test]
    fn wanted_entries_stay_wanted_after_sorting() {
        let mut builder = WorldBuilder::default();
        let (a, b) = (builder.feed("a"), builder.feed("b"));
        for (at, wanted) in [(50, true), (40, false), (45, true)] {
            let number = builder.entry(a, row(at, Some(at), None));
            builder.judge(a, number, wanted);
        }
        builder.entry(b, row(1, Some(1), None));
        let world = builder.finish(20);
        let relevance = world.feeds[0].relevance().unwrap();
        assert_eq!([0, 1, 2].map(|entry| relevance.is_wanted(entry)), [false, true, true]);
        assert_eq!(world.feeds[1].relevance(), None);
        assert!(world.has_relevance());
    }

    #[test]
    fn feeds_of_one_domain_stand_together() {
        let mut builder = WorldBuilder::default();
        for (name, domain) in [("a", "x.test"), ("b", ""), ("c", "x.test")] {
            let feed = builder.feed(name);
            builder.domain(feed, domain);
        }
        assert_eq!(builder.finish(1).domains, [vec![0, 2], vec![1]]);
    }
}
