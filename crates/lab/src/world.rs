//! The simulated web: for each feed, when its entries appear and how many it shows.
//!
//! A world is the truth that no policy sees: policies meet it through [`PolledFeed`](crate::PolledFeed). Per
//! entry it holds eight bytes (sixteen where what an entry claims differs from when it appeared),
//! so that the 33 million entries of the published evaluation fit a laptop.

pub mod history;
pub mod known_rates;
mod polled_feed;
pub mod stats;
pub mod synth;
pub mod trace;
pub mod visibility;

use std::collections::HashMap;
use std::time::Duration;

use feed::Time;

pub use polled_feed::PolledFeed;

/// Feeds with their histories, and how many entries a feed shows where its trace does not say.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub feeds: Vec<WorldFeed>,
    /// The window of feeds without one of their own.
    pub window: u32,
    /// Which feeds stand on one registrable domain; a feed without a domain stands alone.
    pub domains: Vec<Vec<usize>>,
}

/// One feed of a world.
#[derive(Clone, Debug, Default)]
pub struct WorldFeed {
    pub name: Box<str>,
    pub title: Box<str>,
    /// How much its entries count beside those of others.
    pub weight: f64,
    pub ttl: Option<Duration>,
    /// When each entry appeared, oldest first.
    visible: Vec<Time>,
    /// What each entry says about itself, where that differs; [`UNDATED`] where it says nothing.
    claims: Option<Box<[Time]>>,
    /// From when on the window has which size. Empty: the world's.
    windows: Vec<(Time, u32)>,
    /// From when on the document has how many bytes. Empty: unknown.
    sizes: Vec<(Time, u32)>,
}

/// The claim of an entry without a date. No trace holds this moment: it cannot be written.
const UNDATED: Time = Time::from_millis(i64::MIN);

impl World {
    /// The first and the last moment at which an entry appears.
    pub fn span(&self) -> Option<(Time, Time)> {
        let first = self.feeds.iter().filter_map(|f| f.visible.first()).min()?;
        let last = self.feeds.iter().filter_map(|f| f.visible.last()).max()?;
        Some((*first, *last))
    }

    pub fn n_entries(&self) -> usize {
        self.feeds.iter().map(|f| f.visible.len()).sum()
    }
}

impl WorldFeed {
    /// A feed whose entries appear at `times` and say so.
    pub fn new(name: &str, mut times: Vec<Time>) -> WorldFeed {
        times.sort_unstable();
        WorldFeed { name: name.into(), weight: 1.0, visible: times, ..WorldFeed::default() }
    }

    /// The same feed with windows of these sizes, each from its moment on.
    pub fn with_windows(mut self, windows: Vec<(Time, u32)>) -> WorldFeed {
        self.windows = windows;
        self.windows.sort_by_key(|(from, _)| *from);
        self
    }

    pub fn visible(&self) -> &[Time] {
        &self.visible
    }

    /// The entries that appear from one moment until before another.
    pub(crate) fn between(&self, from: Time, to: Time) -> &[Time] {
        let n_before = |at: Time| self.visible.partition_point(|t| *t < at);
        &self.visible[n_before(from)..n_before(to).max(n_before(from))]
    }

    /// Whether its entries carry another time than that at which they appeared.
    pub fn has_claims(&self) -> bool {
        self.claims.is_some()
    }

    /// What an entry says about when it was published.
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

/// One entry as a trace gives it.
#[derive(Clone, Copy, Debug)]
pub struct TraceRow {
    pub visible: Time,
    pub claim: Option<Time>,
    pub window: Option<u32>,
    pub bytes: Option<u32>,
}

/// A world in the making: entries come in any order.
#[derive(Debug, Default)]
pub struct WorldBuilder {
    drafts: Vec<FeedDraft>,
    by_name: HashMap<Box<str>, usize>,
    domains: HashMap<Box<str>, usize>,
    /// The feed of the last row: traces are mostly written feed by feed.
    last: usize,
}

#[derive(Debug, Default)]
struct FeedDraft {
    feed: WorldFeed,
    domain: Option<usize>,
    /// Beside the first so many entries; empty while all of them are plain.
    extras: Vec<RowExtras>,
}

/// What a row says besides when its entry appeared; `u32::MAX` where it says nothing.
#[derive(Clone, Copy, Debug)]
struct RowExtras {
    claim: Time,
    window: u32,
    bytes: u32,
}

const UNSAID: u32 = u32::MAX;

impl WorldBuilder {
    /// The number of the feed with this name; a new one if there is none.
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

    /// Adds an entry to a feed.
    pub fn entry(&mut self, feed: usize, row: TraceRow) {
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
    }

    pub fn ttl(&mut self, feed: usize, ttl: Duration) {
        self.drafts[feed].feed.ttl = Some(ttl);
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

    /// The last domain named counts; an empty name says nothing.
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

    /// The world, with `window` entries shown where nothing else was said.
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
        // In the order of their first feed, whatever order the names had.
        domains.retain(|feeds| !feeds.is_empty());
        domains.sort_unstable_by_key(|feeds| feeds[0]);
        World { feeds, window, domains }
    }
}

impl FeedDraft {
    /// Plain entries that came before get the extras that say nothing.
    fn fill_extras(&mut self) {
        let plain = &self.feed.visible[self.extras.len()..];
        self.extras.extend(plain.iter().map(|t| RowExtras {
            claim: *t,
            window: UNSAID,
            bytes: UNSAID,
        }));
    }

    fn finish(mut self) -> WorldFeed {
        let mut feed = self.feed;
        if self.extras.is_empty() {
            feed.visible.sort_unstable();
            feed.visible.shrink_to_fit();
            return feed;
        }
        let mut rows: Vec<(Time, RowExtras)> =
            feed.visible.drain(..).zip(self.extras.drain(..)).collect();
        rows.sort_by_key(|(visible, extra)| (*visible, extra.claim));
        feed.visible = rows.iter().map(|row| row.0).collect();
        if rows.iter().any(|(visible, extra)| *visible != extra.claim) {
            feed.claims = Some(rows.iter().map(|row| row.1.claim).collect());
        }
        feed.windows = steps(rows.iter().map(|(at, extra)| (*at, extra.window)));
        feed.sizes = steps(rows.iter().map(|(at, extra)| (*at, extra.bytes)));
        feed
    }
}

/// From when on which value holds, where one is said.
fn steps(values: impl Iterator<Item = (Time, u32)>) -> Vec<(Time, u32)> {
    let mut steps: Vec<(Time, u32)> = Vec::new();
    for (at, value) in values.filter(|(_, value)| *value != UNSAID) {
        match steps.last_mut() {
            Some((_, last)) if *last == value => {}
            // Of several rows of one moment the last one says it.
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
    fn feeds_of_one_domain_stand_together() {
        let mut builder = WorldBuilder::default();
        for (name, domain) in [("a", "x.test"), ("b", ""), ("c", "x.test")] {
            let feed = builder.feed(name);
            builder.domain(feed, domain);
        }
        assert_eq!(builder.finish(1).domains, [vec![0, 2], vec![1]]);
    }
}
