//! The seam to the standing queries: what they are told of new entries inside the poll's
//! transaction, and what they answer. Which queries keep an entry is decided behind the seam; here
//! their memory is only held to what is stored: whatever was undone is built anew.

mod slot;
mod states;

pub(crate) use slot::{Keeper, guarded};
pub(crate) use states::{change_states, load, put_stored};

use feed::{EntryId, FeedId, Time};

/// A query's number: positive, in the order of creation, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryId(pub u32);

/// A new entry and the feed it came from, as the queries see it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    pub id: EntryId,
    pub feed: FeedId,
    /// As subscribed.
    pub feed_url: &'a str,
    pub tags: &'a [String],
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

/// A query that keeps an entry, and the entry it was joined with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub query: QueryId,
    pub partner: Option<EntryId>,
}

/// What a query remembers from now on, or no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateChange {
    Remember { query: QueryId, number: u64, bytes: Vec<u8> },
    Forget { query: QueryId, number: u64 },
}

/// Of a feed's entries, how many were seen and how many were wanted; both fade.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    pub seen: f64,
    pub kept: f64,
}

/// Whoever knows which queries keep an entry. Called by the writer alone, one call at a time, in
/// the order of recording.
pub trait Keeps: Send {
    /// One without queries, for looking at the past beside the present.
    fn fresh(&self) -> Box<dyn Keeps>;

    /// Whether there is no query at all.
    fn is_empty(&self) -> bool;

    /// Forgets all queries.
    fn clear(&mut self);

    /// Takes in a query with what it remembers, in place of the one with this number. Answers the
    /// numbers of records that are not its own any more; they are deleted.
    fn put(
        &mut self,
        query: QueryId,
        name: &str,
        text: &str,
        records: &[(u64, Vec<u8>)],
    ) -> Vec<u64>;

    fn take_away(&mut self, query: QueryId);

    /// Whether any query reads a feed.
    fn reads(&self, feed_url: &str, tags: &[String]) -> bool;

    /// The queries that keep an entry.
    fn keep(&mut self, entry: &Arrival<'_>) -> Vec<Kept>;

    /// What was remembered and forgotten since the last call, in this order.
    fn take_changes(&mut self) -> Vec<StateChange>;

    /// A feed's share after so many more entries.
    fn faded(&self, before: Share, n_seen: u32, n_kept: u32) -> Share;
}
