//! The records of polls and pushes, as values. The store keeps all of one record in one
//! transaction, or nothing of it. The SQL is elsewhere.

use std::time::Duration;

use crate::db::sql::Row;
use feed::{EntryId, EntryKey, FeedId, FeedUrl, Hints, Item, Outcome, Published, Time, Window};

use crate::queries::matches::NewArrival;
use crate::record::apply;
use crate::record::set::RecordJob;
use crate::{
    EntryFacts, FeedFacts, Gone, NextPollReason, PendingRedirect, PollProblem, PushTrustChange,
    RecordedAnswer, Store, StoreError, StoredPace,
};

/// The first 16 bytes of a digest of a response's body: equal bytes mean an unchanged feed.
pub type BodyHash = [u8; 16];

/// The validators of a document as the server gave them, byte for byte. A request sends them back
/// to ask whether the document has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredValidators {
    pub etag: Option<Vec<u8>>,
    pub last_modified: Option<Vec<u8>>,
    /// A digest of the URL that gave them; `None`: not known.
    pub of: Option<i64>,
}

/// An entry never seen before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    pub key: EntryKey,
    pub item: Item,
    pub published: Published,
    pub content: u64,
    pub facts: EntryFacts,
}

/// A known entry with other content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedEntry {
    pub key: EntryKey,
    pub item: Item,
    pub content: u64,
    /// Its language stays that of the first text.
    pub facts: EntryFacts,
}

/// One poll, with everything that the store keeps of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PollRecord {
    pub feed: FeedId,
    /// The feed's generation when the poll began. The store refuses a record of another one.
    pub generation: u32,
    /// The time when the first request was sent. New entries count as seen then.
    pub at: Time,
    pub outcome: Outcome,
    /// The code of the reason for this poll.
    pub cause: Option<String>,
    pub exchange: ExchangeRecord,
    pub content: PollContent,
    pub observed: ObservedWindow,
    /// Sentences about repairs and omissions of the parser. The store keeps the first 2000 bytes.
    pub warnings: Vec<String>,
    pub location: LocationChange,
    pub problem: Option<PollProblem>,
    pub decision: Decision,
    /// The new trust in the feed's pushes, where it has a subscription.
    pub trust: Option<PushTrustChange>,
    /// The messages of the last exchange, for a recording.
    pub raw: Option<Box<RecordedAnswer>>,
    /// The grants of its requests, whose rows end with this record.
    pub grants: Vec<u64>,
}

/// One push of a hub. It is not a poll: generation, validators and learned state stay.
#[derive(Clone, Debug, PartialEq)]
pub struct PushRecord {
    pub feed: FeedId,
    /// The feed's generation when the push was compared with its window.
    pub generation: u32,
    /// The time when the push arrived.
    pub at: Time,
    /// The row of the inbox that this record replaces.
    pub parcel: i64,
    pub trust: PushTrustChange,
    pub entries: EntryChanges,
    pub next: NextPoll,
}

/// The HTTP exchanges of one poll.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExchangeRecord {
    /// The status of the last answer; `None`: there was none.
    pub status: Option<u16>,
    pub bytes: u64,
    pub elapsed: Duration,
    /// The pace of every domain that received a request.
    pub paces: Vec<StoredPace>,
}

/// The content that a poll brought.
#[derive(Clone, Debug, PartialEq)]
pub enum PollContent {
    /// Nothing that the store keeps: the poll failed.
    Nothing,
    /// The document is the same as before; `Some`: its validators are others now.
    Unchanged {
        validators: Option<StoredValidators>,
    },
    Document(Box<DocumentRecord>),
}

/// A document and the changes that it makes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentRecord {
    /// These replace the ones before, absent ones included.
    pub validators: StoredValidators,
    pub body_hash: BodyHash,
    pub facts: FeedFacts,
    pub hints: Hints,
    pub entries: EntryChanges,
}

/// The changes of a feed's entries by one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryChanges {
    /// In the order in which they enter the stream: the oldest first.
    pub new: Vec<NewEntry>,
    pub edited: Vec<EditedEntry>,
    /// `Some` where the window changed.
    pub window: Option<Window>,
}

/// The comparison of a document with the feed's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObservedWindow {
    pub len: u32,
    /// The number of entries that the window before contained too.
    pub overlap: u32,
    pub suspected_miss: bool,
}

/// The changes of a feed's address by one poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocationChange {
    /// `Some`: later polls go there.
    pub effective_url: Option<FeedUrl>,
    /// The redirect that is pending after this poll.
    pub pending: Option<PendingRedirect>,
    /// `Some`: the feed is gone after this poll.
    pub gone: Option<Gone>,
}

/// The decision about the next poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub next: NextPoll,
    /// The learned state of the policy; `None`: as before.
    pub learned: Option<Vec<u8>>,
    /// Failures in a row.
    pub failures: u32,
}

/// The next poll of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextPoll {
    pub at: Time,
    /// The answer of the policy.
    pub wanted_at: Option<Time>,
    pub why: NextPollReason,
}

/// The result of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordResult {
    /// The positions of the new entries, in the order of the record.
    pub new_ids: Vec<EntryId>,
    /// The number of matches of queries among the new entries.
    pub n_matches: u64,
}

impl NewEntry {
    /// Returns the entry as queries see it.
    pub(crate) fn arrival(&self, id: EntryId) -> NewArrival<'_> {
        let NewEntry { item, facts, published, .. } = self;
        NewArrival { id, item, facts, published_at: published.at }
    }
}

impl PollRecord {
    /// Returns a poll that brought nothing and taught nothing.
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
            cause: None,
            exchange: ExchangeRecord::default(),
            content: PollContent::Nothing,
            observed: ObservedWindow::default(),
            warnings: Vec::new(),
            location: LocationChange::default(),
            problem: None,
            decision: Decision { next: NextPoll::at(next_at), learned: None, failures: 0 },
            trust: None,
            raw: None,
            grants: Vec::new(),
        }
    }

    /// Returns the document of the poll, and begins an empty one where it has none.
    pub fn document_mut(&mut self) -> &mut DocumentRecord {
        if !matches!(self.content, PollContent::Document(_)) {
            self.content = PollContent::Document(Box::default());
        }
        match &mut self.content {
            PollContent::Document(document) => document,
            PollContent::Nothing | PollContent::Unchanged { .. } => unreachable!("set above"),
        }
    }

    /// Returns the document of the poll, if it brought one.
    pub fn document(&self) -> Option<&DocumentRecord> {
        match &self.content {
            PollContent::Document(document) => Some(document),
            PollContent::Nothing | PollContent::Unchanged { .. } => None,
        }
    }

    /// Returns the validators that replace the stored ones.
    pub fn validators(&self) -> Option<&StoredValidators> {
        match &self.content {
            PollContent::Document(document) => Some(&document.validators),
            PollContent::Unchanged { validators } => validators.as_ref(),
            PollContent::Nothing => None,
        }
    }
}

impl NextPoll {
    /// Returns a next poll that nothing explains.
    pub fn at(at: Time) -> NextPoll {
        NextPoll { at, wanted_at: None, why: NextPollReason::default() }
    }
}

impl Store {
    /// Records a poll; resolves after the commit, which it shares with others.
    pub async fn record(&self, record: PollRecord) -> Result<RecordResult, StoreError> {
        let (slot, file, delays) = (self.matcher(), self.file().clone(), delays(&record));
        let kept = self.apply_in_set(|reply| RecordJob::new(record, slot, file, reply)).await?;
        self.counters().recorded(&delays, kept.n_matches);
        Ok(kept)
    }

    /// Records a poll and commits at once; for tools and tests.
    pub fn record_blocking(&self, record: PollRecord) -> Result<RecordResult, StoreError> {
        let (slot, file, delays) = (self.matcher(), self.file().clone(), delays(&record));
        let kept = self.apply_in_set_blocking(|reply| RecordJob::new(record, slot, file, reply))?;
        self.counters().recorded(&delays, kept.n_matches);
        Ok(kept)
    }

    /// Records a push; resolves after the commit.
    pub async fn record_push(&self, record: PushRecord) -> Result<RecordResult, StoreError> {
        let slot = self.matcher();
        let kept = self.write_async(move |conn| apply::record_push(conn, &record, &slot));
        let kept = kept.await?;
        self.counters().recorded(&[], kept.n_matches);
        Ok(kept)
    }
}

/// Reads a hash. One of another length is `None`: it would match nothing.
pub(crate) fn body_hash(row: &Row<'_>, column: usize) -> crate::db::sql::Result<Option<BodyHash>> {
    let bytes = row.get_ref(column)?.as_blob_or_null()?;
    Ok(bytes.and_then(|bytes| BodyHash::try_from(bytes).ok()))
}

/// Returns how late the new entries of a poll were seen. A feed's first document says nothing about
/// delays: it has no overlap, and no miss is suspected.
pub(crate) fn delays(record: &PollRecord) -> Vec<Duration> {
    let Some(document) = record.document() else { return Vec::new() };
    if record.observed.overlap == 0 && !record.observed.suspected_miss {
        return Vec::new();
    }
    let dated =
        document.entries.new.iter().filter(|new| new.published.claim == Some(new.published.at));
    dated.map(|new| record.at.since(new.published.at)).collect()
}
