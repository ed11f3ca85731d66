//! Counts the share of each feed's entries that any query keeps: the selectivity of Horincar, Amann
//! and Artières (2010). The crate `polling` decides how the share fades with time.

use std::collections::BTreeMap;

use feed::FeedId;

/// Entries seen and kept, per feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    feeds: BTreeMap<FeedId, (u32, u32)>,
}

impl Tally {
    /// Counts a new entry of a feed, and whether any query kept it.
    pub fn note(&mut self, feed: FeedId, kept: bool) {
        let (n_seen, n_kept) = self.feeds.entry(feed).or_insert((0, 0));
        *n_seen = n_seen.saturating_add(1);
        *n_kept = n_kept.saturating_add(u32::from(kept));
    }

    /// Returns, for each feed, the entries seen and kept since the last call.
    pub fn take(&mut self) -> Vec<(FeedId, u32, u32)> {
        let feeds = std::mem::take(&mut self.feeds);
        feeds.into_iter().map(|(feed, (seen, kept))| (feed, seen, kept)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_counted_per_feed_and_taken_once() {
        let mut tally = Tally::default();
        for (feed, kept) in [(2, true), (1, false), (2, false), (2, true)] {
            tally.note(FeedId(feed), kept);
        }
        assert_eq!(tally.take(), [(FeedId(1), 1, 0), (FeedId(2), 3, 2)]);
        assert!(tally.take().is_empty());
    }
}
