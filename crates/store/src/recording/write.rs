//! Writes the messages and the document of a recorded poll, in the poll's transaction.

use feed::{FeedId, Outcome, RawAnswer};
use sha2::{Digest, Sha256};

use super::delta;
use crate::StoreError;
use crate::db::columns::sql_count;
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;

/// The longest document that is restored: the largest limit of a body, with room.
pub(super) const DOCUMENT_BYTES_MAX: usize = 64_000_000;
/// The longest messages that are kept of one poll. Servers that send more send rubbish.
pub(super) const MESSAGES_BYTES_MAX: usize = 128 * 1024;

/// The last exchange of a recorded poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedAnswer {
    /// The address of the last request.
    pub url: String,
    /// The number of redirects before it.
    pub hops: u32,
    pub answer: RawAnswer,
}

/// The newest version of a feed's document.
struct NewestVersion {
    version: i64,
    /// The poll that brought it.
    generation: i64,
    sha256: Vec<u8>,
    n_since_whole: u32,
    stored_bytes: i64,
}

/// A poll that is recorded.
#[derive(Clone, Copy)]
pub(crate) struct PollNumber {
    pub feed: FeedId,
    pub generation: u32,
    pub outcome: Outcome,
}

/// Writes what a poll brought. Without a recording under way it does nothing.
pub(crate) fn write(
    conn: &Connection,
    poll: PollNumber,
    raw: &RecordedAnswer,
) -> Result<(), DbError> {
    let sql = "select id, feed_bytes_max, bytes_max, stored_bytes from recordings \
               where ended_at is null";
    let mut statement = conn.prepare_cached(sql)?;
    let limits = statement.query_row([], |row| {
        let max: Option<i64> = row.get(2)?;
        let is_full = max.is_some_and(|max| row.get(3).is_ok_and(|stored: i64| stored >= max));
        Ok((row.get(0)?, row.get(1)?, is_full))
    });
    let found: Option<(i64, Option<i64>, bool)> = limits.optional()?;
    let Some((recording, feed_bytes_max, is_full)) = found else { return Ok(()) };
    let (feed, generation) = (poll.feed, i64::from(poll.generation));
    let newest = newest_version(conn, feed)?;
    let mut stored = 0;
    let mut sha256 = None;
    let mut shown = None;
    // The poll whose messages are the prefix: the one that brought the document.
    let mut base = newest.as_ref().map(|newest| newest.generation);
    if let Some(body) = &raw.answer.body {
        let digest = Sha256::digest(body).to_vec();
        let known = known_version(conn, poll, newest.as_ref(), &digest)?;
        let room = feed_bytes_max
            .is_none_or(|max| newest.as_ref().is_none_or(|newest| newest.stored_bytes < max))
            && !is_full;
        shown = known;
        if known.is_none() && room {
            let (version, bytes) =
                write_version(conn, feed, generation, newest.as_ref(), body, &digest)?;
            (shown, base, stored) = (Some(version), None, bytes);
        }
        sha256 = Some(digest);
    } else if poll.outcome == Outcome::Unchanged {
        // Only an unchanged answer without a body confirms a document.
        shown = confirmed_version(conn, feed, generation)?;
    }
    stored += write_messages(conn, poll, raw, (shown, sha256, base))?;
    let sql = "update recordings set n_polls = n_polls + 1, stored_bytes = stored_bytes + $1 \
               where id = $2";
    conn.prepare_cached(sql)?.execute([stored, recording])?;
    Ok(())
}

/// Returns the version that has these bytes already. The page of an error may have come at any time
/// before; a document is compared with the newest one only.
fn known_version(
    conn: &Connection,
    poll: PollNumber,
    newest: Option<&NewestVersion>,
    digest: &[u8],
) -> Result<Option<i64>, DbError> {
    if let Some(newest) = newest.filter(|newest| newest.sha256 == digest) {
        return Ok(Some(newest.version));
    }
    if poll.outcome.is_success() {
        return Ok(None);
    }
    let sql = "select max(version) from document_versions where feed = $1 and sha256 = $2";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_row(params![poll.feed.0, digest], |row| row.get(0))?)
}

/// Returns the version that the last successful poll showed; `None` if it is not kept. Pages of
/// errors and damaged documents may have come after it.
fn confirmed_version(
    conn: &Connection,
    feed: FeedId,
    generation: i64,
) -> Result<Option<i64>, DbError> {
    let sql = "select r.version from polls p left join recorded_polls r \
               on r.feed = p.feed and r.generation = p.generation \
               where p.feed = $1 and p.generation < $2 and p.outcome in ('seen', 'unchanged') \
               order by p.generation desc limit 1";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_row(params![feed.0, generation], |row| row.get(0)).optional()?;
    Ok(found.flatten())
}

fn newest_version(conn: &Connection, feed: FeedId) -> Result<Option<NewestVersion>, DbError> {
    let sql = "select version, generation, sha256, n_since_whole, stored_bytes \
               from document_versions where feed = $1 order by version desc limit 1";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_row([feed.0], |row| {
        Ok(NewestVersion {
            version: row.get(0)?,
            generation: row.get(1)?,
            sha256: row.get(2)?,
            n_since_whole: row.get(3)?,
            stored_bytes: row.get(4)?,
        })
    });
    Ok(found.optional()?)
}

/// Writes a new version of the document. Returns its number and its stored size.
fn write_version(
    conn: &Connection,
    feed: FeedId,
    generation: i64,
    newest: Option<&NewestVersion>,
    body: &[u8],
    digest: &[u8],
) -> Result<(i64, i64), DbError> {
    let before = match newest {
        Some(newest) if newest.n_since_whole < delta::FULL_EVERY => {
            // A damaged chain must not stop the recording: a whole frame begins a new one.
            unpacked(&frames(conn, feed, newest.version)?).ok().flatten()
        }
        _ => None,
    };
    let (version, since, total) = match newest {
        Some(newest) => (newest.version + 1, newest.n_since_whole, newest.stored_bytes),
        None => (1, 0, 0),
    };
    let packed = delta::pack(body, before.as_deref(), since).map_err(unreadable)?;
    let size = sql_count(packed.bytes.len() as u64);
    let sql = "insert into document_versions (feed, version, generation, sha256, bytes, is_whole, \
               n_since_whole, stored_bytes, frame) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    conn.prepare_cached(sql)?.execute(params![
        feed.0,
        version,
        generation,
        digest,
        sql_count(body.len() as u64),
        !packed.base,
        if packed.base { since + 1 } else { 1 },
        total + size,
        packed.bytes,
    ])?;
    Ok((version, size))
}

/// Restores a version from its chain of frames; `None` if it does not exist.
pub(super) fn restore(
    conn: &Connection,
    feed: FeedId,
    version: i64,
) -> Result<Option<Vec<u8>>, DbError> {
    unpacked(&frames(conn, feed, version)?).map_err(unreadable)
}

fn unpacked(frames: &[Vec<u8>]) -> std::io::Result<Option<Vec<u8>>> {
    delta::unpack_chain(frames.iter().map(Vec::as_slice), DOCUMENT_BYTES_MAX)
}

/// Returns the frames from the last whole one to a version; none if there is no such version.
fn frames(conn: &Connection, feed: FeedId, version: i64) -> Result<Vec<Vec<u8>>, DbError> {
    let sql = "select frame from document_versions where feed = $1 and version <= $2 \
               and version >= (select max(version) from document_versions \
               where feed = $1 and version <= $2 and is_whole = 1) \
               and exists (select 1 from document_versions where feed = $1 and version = $2) \
               order by version";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![feed.0, version], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Writes the messages of a poll: its document, the digest of its body, and the poll whose
/// messages are the prefix. Returns the stored size.
fn write_messages(
    conn: &Connection,
    poll: PollNumber,
    raw: &RecordedAnswer,
    (shown, sha256, base): (Option<i64>, Option<Vec<u8>>, Option<i64>),
) -> Result<i64, DbError> {
    let text = joined(&raw.answer);
    let prefix = match base {
        Some(base) => messages_of(conn, poll.feed, base)?,
        None => None,
    };
    let packed = delta::pack(&text, prefix.as_deref(), 1).map_err(unreadable)?;
    let base = base.filter(|_| packed.base);
    let size = sql_count(packed.bytes.len() as u64);
    let sql = "insert into recorded_polls (feed, generation, url, hops, remote, version, sha256, \
               base, messages) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    conn.prepare_cached(sql)?.execute(params![
        poll.feed.0,
        poll.generation,
        raw.url,
        raw.hops,
        raw.answer.remote.map(|address| address.to_string()),
        shown,
        sha256,
        base,
        packed.bytes,
    ])?;
    Ok(size)
}

/// Returns the messages of a poll whose frame is whole.
pub(super) fn messages_of(
    conn: &Connection,
    feed: FeedId,
    generation: i64,
) -> Result<Option<Vec<u8>>, DbError> {
    let sql = "select messages from recorded_polls \
               where feed = $1 and generation = $2 and base is null";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_row(params![feed.0, generation], |row| row.get(0)).optional()?;
    let frame: Option<Vec<u8>> = found;
    let text = frame.map(|frame| delta::unpack(&frame, None, 2 * MESSAGES_BYTES_MAX + 2));
    text.transpose().map_err(unreadable)
}

/// Separates request and answer. Neither contains it: header lines have no zero byte.
pub(super) const SEPARATOR: u8 = 0;

fn joined(answer: &RawAnswer) -> Vec<u8> {
    let cut = |bytes: &[u8]| bytes[..bytes.len().min(MESSAGES_BYTES_MAX)].to_vec();
    let mut text = cut(&answer.request);
    text.push(SEPARATOR);
    text.extend(cut(&answer.head));
    text
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes a value")]
pub(super) fn unreadable(error: std::io::Error) -> DbError {
    StoreError::Frame { why: error.to_string() }.into()
}
