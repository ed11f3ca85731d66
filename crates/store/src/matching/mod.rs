//! The interface to the standing queries. Inside the transaction of a poll the store shows each new
//! entry to an [`EntryMatcher`], which returns the queries that match it. The implementation
//! decides; this module keeps its memory equal to the stored state and rebuilds it after a
//! rollback.

mod expected;
pub(crate) mod scope;
mod slot;
mod states;

pub(crate) use expected::{REQUESTED_TO, requested_to};
pub use scope::{QueryScope, private_owner};
pub(crate) use slot::{MatcherSlot, guarded};
pub(crate) use states::{change_states, load, put_stored, scope as scope_columns};

use std::collections::HashSet;

use feed::{EntryId, FeedId, QueryId, Time};

/// A new entry and its feed, as the queries see it.
#[derive(Clone, Copy, Debug)]
pub struct ArrivedEntry<'a> {
    pub id: EntryId,
    pub feed: FeedId,
    /// The URL under which the feed was added.
    pub feed_url: &'a str,
    pub tags: &'a [String],
    /// The language by all that is known: the entry's own word, its text, its feed.
    pub language: Option<&'a str>,
    /// The number of a top Media Topic of the IPTC.
    pub topic: Option<u8>,
    pub title: Option<&'a str>,
    pub summary: Option<&'a str>,
    pub content: Option<&'a str>,
    pub author: Option<&'a str>,
    pub categories: &'a [String],
    pub link: Option<&'a str>,
    pub article: ArrivedArticle<'a>,
    pub published_at: Time,
    pub seen_at: Time,
}

/// The page behind an entry, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivedArticle<'a> {
    /// There is none and none will come.
    Absent,
    /// It will come, or a deadline will pass. Queries that use it wait.
    Expected,
    /// Its plain text.
    There(&'a str),
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

    /// Says whose feeds a query reads. Called before each [`EntryMatcher::put`].
    fn set_scope(&mut self, _query: QueryId, _scope: QueryScope) {}

    fn remove_query(&mut self, query: QueryId);

    /// Returns whether others than the owner see the matches of a query.
    fn others_see(&self, _query: QueryId) -> bool {
        false
    }

    /// Forgets the entries of these feeds that a query remembers, before others see its matches.
    fn leave_out(&mut self, _query: QueryId, _feeds: &HashSet<FeedId>) {}

    /// Returns whether any query reads a feed.
    fn reads(&self, feed_url: &str, tags: &[String]) -> bool;

    /// Returns the queries that match an entry.
    fn match_entry(&mut self, entry: &ArrivedEntry<'_>) -> Vec<QueryMatch>;

    /// Notes that a query, if it waits for articles, does not decide later on entries up to this
    /// one.
    fn note_since(&mut self, _query: QueryId, _since: EntryId) {}

    /// Returns whether a query waits for articles.
    fn waits(&self, _query: QueryId) -> bool {
        false
    }

    /// Returns whether any query waits for articles.
    fn has_waiting(&self) -> bool {
        false
    }

    /// Returns the queries that match an entry whose article they waited for. `kept_by` are the
    /// names of the queries that kept it when it was recorded.
    fn match_waiting(&mut self, _entry: &ArrivedEntry<'_>, _kept_by: &[String]) -> Vec<QueryMatch> {
        Vec::new()
    }

    /// Returns the changes of state since the last call, in order.
    fn take_changes(&mut self) -> Vec<QueryStateChange>;

    /// Returns the share of a feed after `n_seen` more entries, `n_kept` of them relevant.
    fn decayed_share(&self, before: RelevantShare, n_seen: u32, n_kept: u32) -> RelevantShare;
}
