//! What one poll leaves behind, as a value. All of it is kept in one transaction or none.

use std::time::Duration;

use feed::{
    EntryId, EntryKey, FeedId, FeedUrl, Hints, Item, Outcome, Published, Time, Trouble, Window,
};
use rusqlite::Row;

use crate::{Pace, PushNote, Store, StoreError, figures, keeping};

/// The first 16 bytes of a digest of a response's body: equal bytes mean an unchanged feed.
pub type BodyHash = [u8; 16];

/// What a server gave us to ask "has it changed?" with, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    pub etag: Option<Vec<u8>>,
    pub last_modified: Option<Vec<u8>>,
    /// A digest of the URL that gave them; `None`: not known.
    pub of: Option<i64>,
}

/// What a document says about its feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedFacts {
    pub title: Option<String>,
    pub site: Option<String>,
    pub language: Option<String>,
    pub hub: Option<String>,
    /// Under which address the hub knows it.
    pub topic: Option<String>,
    /// Where rssCloud notices are offered.
    pub cloud: Option<String>,
}

/// The publisher ended the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    pub at: Time,
    pub reason: String,
}

/// A permanent redirect that is not believed yet, and how often in a row it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub to: FeedUrl,
    pub count: u32,
}

/// An entry never seen before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    pub key: EntryKey,
    pub item: Item,
    pub published: Published,
    pub content: u64,
}

/// A known entry with other content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub key: EntryKey,
    pub item: Item,
    pub content: u64,
}

/// One poll: what came, what was learned, when to look again.
#[derive(Clone, Debug, PartialEq)]
pub struct PollRecord {
    pub feed: FeedId,
    /// The feed's generation when the poll was begun; another one by now makes this record stale.
    pub generation: u32,
    /// When the request was sent; what is new was seen then.
    pub at: Time,
    pub outcome: Outcome,
    pub status: Option<u16>,
    pub error: Option<String>,
    /// What kind of trouble the error is.
    pub trouble: Option<Trouble>,
    /// Failures in a row after this poll.
    pub failures: u32,
    /// Whether the feed is gone after this poll.
    pub gone: Option<Gone>,
    /// The redirect pending after this poll.
    pub moved: Option<Moved>,
    /// `Some`: from now on it is polled there.
    pub effective_url: Option<FeedUrl>,
    /// `Some`: these replace the ones before, absent ones included. Only with a document that is
    /// kept by this record, or a 304 that brought others.
    pub validators: Option<Validators>,
    pub body_hash: Option<BodyHash>,
    pub facts: Option<FeedFacts>,
    pub hints: Option<Hints>,
    /// In the order in which they enter the stream: the oldest first.
    pub new: Vec<NewEntry>,
    pub edited: Vec<Edited>,
    /// `Some` where it changed.
    pub window: Option<Window>,
    /// `Some` where it changed.
    pub learned: Option<Vec<u8>>,
    pub window_len: u32,
    pub overlap: u32,
    pub suspected_miss: bool,
    pub bytes: u64,
    pub elapsed: Duration,
    /// What the policy answered.
    pub wanted_at: Option<Time>,
    /// When the feed is polled next.
    pub next_at: Time,
    /// In short: why this poll was made.
    pub cause: Option<String>,
    /// In words: the rule and the figures behind `wanted_at`.
    pub reason: Option<String>,
    /// In short: why the next poll will be made. It comes back with
    /// [`PollInput`](crate::PollInput).
    pub next_cause: Option<String>,
    /// In words: what made `next_at` another time than `wanted_at`.
    pub held: Option<String>,
    /// The pace of every domain that was asked.
    pub domains: Vec<Pace>,
    /// What the parser repaired or left out. The store keeps the first 2000 bytes.
    pub warnings: Vec<String>,
    /// What it means for the feed's subscription. One that names a push is no poll: it changes
    /// neither the generation nor what is known of polls.
    pub push: Option<PushNote>,
}

/// What was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The positions of the new entries, in the order of the record.
    pub new_ids: Vec<EntryId>,
    /// How often queries kept one of them.
    pub n_matches: u64,
}

impl PollRecord {
    /// Whether a hub brought it.
    pub fn is_push(&self) -> bool {
        self.push.is_some_and(|note| note.parcel.is_some())
    }

    /// A poll that brought nothing and taught nothing; the rest is filled in by the caller.
    pub fn empty(
        feed: FeedId,
        generation: u32,
        at: Time,
        outcome: Outcome,
        next_at: Time,
    ) -> PollRecord {
        PollRecord {
            feed,
            generation,
            at,
            outcome,
            status: None,
            error: None,
            trouble: None,
            failures: 0,
            gone: None,
            moved: None,
            effective_url: None,
            validators: None,
            body_hash: None,
            facts: None,
            hints: None,
            new: Vec::new(),
            edited: Vec::new(),
            window: None,
            learned: None,
            window_len: 0,
            overlap: 0,
            suspected_miss: false,
            bytes: 0,
            elapsed: Duration::ZERO,
            wanted_at: None,
            next_at,
            cause: None,
            reason: None,
            next_cause: None,
            held: None,
            domains: Vec::new(),
            warnings: Vec::new(),
            push: None,
        }
    }
}

impl Store {
    /// Keeps a poll; resolves after the commit, which it shares with others.
    pub async fn record(&self, record: PollRecord) -> Result<Recorded, StoreError> {
        let (keeper, delays) = (self.keeper(), figures::delays(&record));
        let kept =
            self.write_async(move |conn| keeping::keep(conn, record, &keeper, |_, _| Ok(())));
        let (kept, ()) = kept.await?;
        self.tally().recorded(&delays, &kept);
        Ok(kept)
    }

    /// The same for tools and tests; commits at once.
    pub fn record_blocking(&self, record: PollRecord) -> Result<Recorded, StoreError> {
        let (keeper, delays) = (self.keeper(), figures::delays(&record));
        let kept = self.write(move |conn| keeping::keep(conn, record, &keeper, |_, _| Ok(())));
        let (kept, ()) = kept?;
        self.tally().recorded(&delays, &kept);
        Ok(kept)
    }
}

/// A hash of another length is none: it matches nothing.
pub(crate) fn body_hash(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<BodyHash>> {
    let bytes = row.get_ref(column)?.as_blob_or_null()?;
    Ok(bytes.and_then(|bytes| BodyHash::try_from(bytes).ok()))
}
