//! Reads recordings, for exports: the polls of a feed with their messages, the versions of its
//! document, and its entries.

use feed::{EntryKey, FeedId, Time};

use super::{delta, write};
use crate::db::columns::{time, time_or_none};
use crate::db::sql::{OptionalExtension, Row, params};
use crate::poll_row::{N_POLL_COLUMNS, POLL_COLUMNS, PollRow, poll_row};
use crate::{Store, StoreError};

/// A poll with everything that was recorded of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedPollRow {
    pub row: PollRow,
    /// When the poll before planned this one.
    pub planned: Option<Time>,
    /// `None`: the poll was not recorded in full.
    pub messages: Option<PollMessages>,
}

/// The messages of a recorded poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollMessages {
    /// The address of the last request.
    pub url: String,
    pub hops: u32,
    pub remote: Option<String>,
    /// The version of the document that the poll showed.
    pub version: Option<i64>,
    /// SHA-256 of the body, if there was one.
    pub sha256: Option<Vec<u8>>,
    /// SHA-256 of the document that the poll showed.
    pub document: Option<Vec<u8>>,
    /// The poll brought this version of the document.
    pub is_first: bool,
    pub request: Vec<u8>,
    pub head: Vec<u8>,
}

/// A version of a feed's document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentVersion {
    pub version: i64,
    /// The poll that brought it.
    pub generation: u32,
    pub sha256: Vec<u8>,
    pub body: Vec<u8>,
}

/// An entry with its times and its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEntryRow {
    pub key: EntryKey,
    pub guid: Option<String>,
    pub title: Option<String>,
    pub link: Option<String>,
    pub claim: Option<Time>,
    pub published_at: Time,
    pub seen_at: Time,
}

impl Store {
    /// Returns all polls of a feed that are kept one by one, the first one first.
    pub fn recorded_polls(&self, feed: FeedId) -> Result<Vec<RecordedPollRow>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select {POLL_COLUMNS}, r.url, r.hops, r.remote, r.version, r.sha256, d.sha256, \
                 d.generation, r.base, r.messages \
                 from polls p left join recorded_polls r \
                 on r.feed = p.feed and r.generation = p.generation \
                 left join document_versions d on d.feed = r.feed and d.version = r.version \
                 where p.feed = $1 order by p.generation"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.query([feed.0])?;
            let mut polls = Vec::new();
            let mut planned = None;
            let mut prefix: Option<(i64, Vec<u8>)> = None;
            while let Some(row) = &rows.next()? {
                let poll = poll_row(row)?;
                let next_at = poll.next_at;
                let mut poll = RecordedPollRow { row: poll, planned, messages: None };
                planned = next_at;
                if let Some(url) = row.get::<_, Option<String>>(N_POLL_COLUMNS)? {
                    let base: Option<i64> = row.get(N_POLL_COLUMNS + 7)?;
                    if let Some(base) =
                        base.filter(|base| prefix.as_ref().is_none_or(|p| p.0 != *base))
                    {
                        prefix = write::messages_of(conn, feed, base)?.map(|text| (base, text));
                    }
                    let before = base.and_then(|_| prefix.as_ref().map(|p| p.1.as_slice()));
                    let frame: Vec<u8> = row.get(N_POLL_COLUMNS + 8)?;
                    let max = 2 * write::MESSAGES_BYTES_MAX + 2;
                    let text = delta::unpack(&frame, before, max).map_err(write::unreadable)?;
                    poll.messages = Some(messages(row, url, poll.row.generation, &text)?);
                }
                polls.push(poll);
            }
            Ok(polls)
        })
    }

    /// Hands out the versions of a feed's document, the first one first.
    pub fn document_versions(
        &self,
        feed: FeedId,
        mut each: impl FnMut(DocumentVersion),
    ) -> Result<(), StoreError> {
        self.read(|conn| {
            let sql = "select version, generation, sha256, is_whole, frame from document_versions \
                       where feed = $1 order by version";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([feed.0])?;
            let mut before: Vec<u8> = Vec::new();
            while let Some(row) = &rows.next()? {
                let frame: Vec<u8> = row.get(4)?;
                let is_whole = row.get::<_, i64>(3)? != 0;
                let prefix = (!is_whole).then_some(before.as_slice());
                let body = delta::unpack(&frame, prefix, write::DOCUMENT_BYTES_MAX)
                    .map_err(write::unreadable)?;
                before.clone_from(&body);
                each(DocumentVersion {
                    version: row.get(0)?,
                    generation: row.get(1)?,
                    sha256: row.get(2)?,
                    body,
                });
            }
            Ok(())
        })
    }

    /// Returns one version of a feed's document; the newest one if `version` is `None`.
    pub fn document_version(
        &self,
        feed: FeedId,
        version: Option<i64>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|conn| {
            let version = match version {
                Some(version) => Some(version),
                None => {
                    let sql = "select max(version) from document_versions where feed = $1";
                    let mut statement = conn.prepare_cached(sql)?;
                    statement.query_row([feed.0], |row| row.get(0)).optional()?.flatten()
                }
            };
            match version {
                Some(version) => write::restore(conn, feed, version),
                None => Ok(None),
            }
        })
    }

    /// Returns the entries of a feed in the order of recording, without their texts.
    pub fn recorded_entries(&self, feed: FeedId) -> Result<Vec<RecordedEntryRow>, StoreError> {
        self.read(|conn| {
            let sql = "select key, guid, title, link, published_claim, published_at, seen_at \
                       from entries where feed = $1 order by id";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![feed.0], |row| {
                let key: Vec<u8> = row.get(0)?;
                Ok(RecordedEntryRow {
                    key: EntryKey::from_bytes(key.try_into().unwrap_or_default()),
                    guid: row.get(1)?,
                    title: row.get(2)?,
                    link: row.get(3)?,
                    claim: time_or_none(row, 4)?,
                    published_at: time(row, 5)?,
                    seen_at: time(row, 6)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// Reads the messages of a poll. `text` is the request and the head of the answer.
fn messages(
    row: &Row<'_>,
    url: String,
    generation: u32,
    text: &[u8],
) -> crate::db::sql::Result<PollMessages> {
    let at = text.iter().position(|byte| *byte == write::SEPARATOR);
    let (request, head) = text.split_at(at.unwrap_or(text.len()));
    Ok(PollMessages {
        url,
        hops: row.get(N_POLL_COLUMNS + 1)?,
        remote: row.get(N_POLL_COLUMNS + 2)?,
        version: row.get(N_POLL_COLUMNS + 3)?,
        sha256: row.get(N_POLL_COLUMNS + 4)?,
        document: row.get(N_POLL_COLUMNS + 5)?,
        is_first: row.get::<_, Option<u32>>(N_POLL_COLUMNS + 6)? == Some(generation),
        request: request.to_vec(),
        head: head.get(1..).unwrap_or_default().to_vec(),
    })
}
