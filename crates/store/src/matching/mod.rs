//! The interface to the standing queries. Inside the transaction of a poll the store shows each new
//! entry to an [`EntryMatcher`], which returns the queries that match it. The implementation
//! decides; this module keeps its memory equal to the stored state and rebuilds it after a
//! rollback.

mod slot;
mod states;

pub(crate) use slot::{MatcherSlot, guarded};
pub(crate) use states::{change_states, load, put_stored};

use feed::{EntryId, FeedId, QueryId, Time};

/// A new entry and its feed, as the queries see it.
#[derive(Clone, Copy, Debug)]
pub struct ArrivedEntry<'a> {
    pub id: EntryId,
    pub feed: FeedId,
    /// The URL under which the feed was added.
    pub feed_url: &'a str,
    pub tags: &'a [String],
    /// The entry's own language, else that of its feed.
    pub language: Option<&'a str>,
    pub title: Option<&'a str>,
    pub summary: Option<&'a str>,
    pub content: Option<&'a str>,
    pub author: Option<&'a str>,
    pub categories: &'a [String],
    pub link: Option<&'a str>,
    pub published_at: Time,
    pub seen_at: Time,
}

/// A query that matches an entry, and the entry that a join found for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryMatch {
    pub query: QueryId,
    pub partner: Option<EntryId>,
}

/// A change of the state that a query remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryStateChange {
    Remember { query: QueryId, number: u64, bytes: Vec<u8> },
    Forget { query: QueryId, number: u64 },
}

/// How many entries of a feed were seen and how many were relevant. Both numbers decay with time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RelevantShare {
    pub seen: f64,
    pub kept: f64,
}

/// Decides which queries match an entry. Only the writer thread calls it, one call at a time, in
/// the order of recording.
pub trait EntryMatcher: Send {
    /// Returns a matcher without queries, to replay stored entries.
    fn fresh(&self) -> Box<dyn EntryMatcher>;

    /// Returns whether there are no queries.
    fn is_empty(&self) -> bool;

    /// Removes all queries.
    fn clear(&mut self);

    /// Adds a query with its stored state, or replaces the one with this number. Returns the
    /// numbers of state records that do not belong to it any more; the store deletes them.
    fn put(
        &mut self,
        query: QueryId,
        name: &str,
        text: &str,
        records: &[(u64, Vec<u8>)],
    ) -> Vec<u64>;

    fn remove_query(&mut self, query: QueryId);

    /// Returns whether any query reads a feed.
    fn reads(&self, feed_url: &str, tags: &[String]) -> bool;

    /// Returns the queries that match an entry.
    fn match_entry(&mut self, entry: &ArrivedEntry<'_>) -> Vec<QueryMatch>;

    /// Returns the changes of state since the last call, in order.
    fn take_changes(&mut self) -> Vec<QueryStateChange>;

    /// Returns the share of a feed after `n_seen` more entries, `n_kept` of them relevant.
    fn decayed_share(&self, before: RelevantShare, n_seen: u32, n_kept: u32) -> RelevantShare;
}
