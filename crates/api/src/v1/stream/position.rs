//! The position of a client in the stream, and the next entries after it.

use feed::{EntryId, FeedId};
use store::{AccountId, EntryFilter, EntryRow, QueryId, Store, StoreError, StreamCursor};

use super::StreamParams;
use super::entry::{FeedAddresses, StreamEntry};
use crate::v1::error::ApiError;
use crate::v1::schema::Omittable;

/// The position of a client in the stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamPosition {
    pub spot: StreamSpot,
    /// The client sent a cursor, so it learns which entries after it were removed.
    has_cursor: bool,
    /// The cursor is not from this stream: the client starts with the oldest entry and learns
    /// about a gap.
    foreign: bool,
}

/// A position in the whole stream, in a feed's part of it, or in a query's.
#[derive(Clone, Copy, Debug)]
pub enum StreamSpot {
    Stream { account: AccountId, after: EntryId },
    Feed { account: AccountId, feed: FeedId, after: EntryId },
    Query { account: AccountId, query: QueryId, after: i64 },
}

impl StreamSpot {
    /// Returns whether the account still reads the feed, or sees the query.
    pub fn is_readable(self, store: &Store) -> Result<bool, StoreError> {
        match self {
            StreamSpot::Stream { .. } => Ok(true),
            StreamSpot::Feed { account, feed, .. } => store.is_subscribed(account, feed),
            StreamSpot::Query { account, query, .. } => store.sees_query(account, query),
        }
    }
}

/// Some rows of the stream, and whether there is a gap before them.
struct StreamRows {
    found: Vec<StreamMatch>,
    gap: bool,
}

/// A row of the stream, or of a query's matches.
struct StreamMatch {
    cursor: StreamCursor,
    entry: EntryRow,
    /// `None`: a query was not asked for.
    partner: Option<Option<i64>>,
}

impl StreamMatch {
    fn of_stream(entry: EntryRow) -> StreamMatch {
        StreamMatch { cursor: StreamCursor::Stream(entry.id), entry, partner: None }
    }

    fn entry(&self, store: &Store, feeds: &mut FeedAddresses) -> Result<StreamEntry, StoreError> {
        let mut shown = StreamEntry::new(store, feeds, self.cursor, &self.entry)?;
        if let Some(partner) = self.partner {
            shown.joined_with = Omittable::Present(partner);
        }
        Ok(shown)
    }
}

/// Some entries, and whether there is a gap before them.
pub struct StreamBatch {
    pub entries: Vec<StreamEntry>,
    pub gap: bool,
}

impl StreamPosition {
    pub fn find(
        store: &Store,
        account: AccountId,
        wanted: &StreamParams,
    ) -> Result<StreamPosition, ApiError> {
        let cursor = wanted.after.as_deref().filter(|text| *text != "now").map(str::parse);
        let cursor =
            cursor.transpose().map_err(|_| ApiError::BadRequest("after is not a cursor"))?;
        let from_now = wanted.after.as_deref() == Some("now");
        let Some(name) = &wanted.query else {
            let last = store.last_entry_id()?;
            let (after, foreign) = match cursor {
                _ if from_now => (last, false),
                None => (EntryId(0), false),
                Some(StreamCursor::Stream(entry)) if entry <= last => (entry, false),
                // The cursor is ahead of all entries: it comes from another store, or from an older
                // copy.
                Some(StreamCursor::Stream(_)) => (EntryId(0), true),
                Some(_) => return Err(ApiError::BadRequest("after is the cursor of a query")),
            };
            let spot = match &wanted.feed {
                None => StreamSpot::Stream { account, after },
                Some(name) => {
                    let found = store.find_feed_of(account, name)?;
                    let feed = found.ok_or(ApiError::NotFound("the feed does not exist"))?;
                    StreamSpot::Feed { account, feed, after }
                }
            };
            return Ok(StreamPosition { spot, has_cursor: after > EntryId(0), foreign });
        };
        let row = store.query_of(account, name)?;
        let row = row.ok_or(ApiError::NotFound("the query does not exist"))?;
        let (after, foreign) = match cursor {
            _ if from_now => (row.last_position, false),
            None => (0, false),
            Some(StreamCursor::Query(id, at)) if id == row.id && at <= row.last_position => {
                (at, false)
            }
            // The cursor comes from a dropped query of the same name, or from another store.
            Some(StreamCursor::Query(..)) => (0, true),
            Some(_) => return Err(ApiError::BadRequest("after is not a cursor of a query")),
        };
        let spot = StreamSpot::Query { account, query: row.id, after };
        Ok(StreamPosition { spot, has_cursor: after > 0, foreign })
    }

    /// Reads the next entries and moves the position behind them.
    /// Reads the next entries that rules have not hidden, and moves the position behind them.
    pub fn read(
        &mut self,
        store: &Store,
        limit: u32,
        feeds: &mut FeedAddresses,
    ) -> Result<StreamBatch, StoreError> {
        let hidden = store.hidden_marks(self.account())?;
        let mut gap = false;
        let entries = loop {
            let page = self.read_page(store, limit)?;
            gap |= page.gap;
            let is_end = page.found.is_empty();
            let shown = page.found.iter().filter(|one| !hidden.is_hidden(one.entry.id));
            let shown: Vec<&StreamMatch> = shown.collect();
            if is_end || !shown.is_empty() {
                feeds.load(store, shown.iter().map(|one| &one.entry))?;
                let entries = shown.into_iter().map(|one| one.entry(store, feeds));
                break entries.collect::<Result<_, _>>()?;
            }
        };
        Ok(StreamBatch {
            entries,
            gap: (gap && self.has_cursor) || std::mem::take(&mut self.foreign),
        })
    }

    fn account(&self) -> AccountId {
        match self.spot {
            StreamSpot::Stream { account, .. }
            | StreamSpot::Feed { account, .. }
            | StreamSpot::Query { account, .. } => account,
        }
    }

    /// Reads the next entries, and moves the position behind them.
    fn read_page(&mut self, store: &Store, limit: u32) -> Result<StreamRows, StoreError> {
        match &mut self.spot {
            StreamSpot::Stream { account, after } => {
                let page = store.stream_of(*account, *after, limit)?;
                *after = page.next;
                let found = page.entries.into_iter().map(StreamMatch::of_stream);
                Ok(StreamRows { found: found.collect(), gap: page.gap })
            }
            StreamSpot::Feed { feed, after, .. } => {
                let rows = store.entries(*after, &EntryFilter { feed: Some(*feed), limit })?;
                *after = rows.last().map_or(*after, |row| row.id);
                let found = rows.into_iter().map(StreamMatch::of_stream).collect();
                // All feeds share one sequence of numbers, so a missing number is not a gap.
                Ok(StreamRows { found, gap: false })
            }
            StreamSpot::Query { query, after, .. } => {
                let page = store.query_entries(*query, *after, limit)?;
                *after = page.next;
                let found = page.entries.into_iter().map(|found| StreamMatch {
                    cursor: StreamCursor::Query(*query, found.position),
                    entry: found.entry,
                    partner: Some(found.partner.map(|id| id.0)),
                });
                Ok(StreamRows { found: found.collect(), gap: page.gap })
            }
        }
    }

    pub fn cursor(&self) -> StreamCursor {
        match self.spot {
            StreamSpot::Stream { after, .. } | StreamSpot::Feed { after, .. } => {
                StreamCursor::Stream(after)
            }
            StreamSpot::Query { query, after, .. } => StreamCursor::Query(query, after),
        }
    }
}
