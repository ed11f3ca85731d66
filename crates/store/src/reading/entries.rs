//! The stream of entries: forwards from a position, or backwards from the end.

use std::time::Duration;

use crate::db::sql::{Connection, OptionalExtension, Row, Value, params};
use feed::{Enclosure, EntryId, EntryKey, FeedId, ItemMedia, Source, Time};

use crate::EntryFacts;
use crate::db::columns::{count, enclosures, media, source, time, time_or_none, words};
use crate::db::sequence;
use crate::error::DbError;
use crate::facts;
use crate::reading::marks::EntryNumbers;
use crate::{Store, StoreError};

/// A stored entry: the publisher's latest text, and our times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    /// Its position in the stream.
    pub id: EntryId,
    pub feed: FeedId,
    pub key: EntryKey,
    /// The publisher's own id.
    pub guid: Option<String>,
    pub title: Option<String>,
    pub link: Option<String>,
    pub author: Option<String>,
    pub summary: Option<String>,
    pub content: Option<String>,
    pub categories: Vec<String>,
    pub enclosures: Vec<Enclosure>,
    pub published_claim: Option<Time>,
    pub published_at: Time,
    /// The publisher's claim of the last edit.
    pub updated_at: Option<Time>,
    pub seen_at: Time,
    /// The time when we saw the present text, if the entry was edited.
    pub edited_at: Option<Time>,
    /// The original feed, if the document says that the entry was taken from another feed.
    pub source: Option<Source>,
    /// The language that the entry declares itself; otherwise that of its feed holds.
    pub language: Option<String>,
    /// The facts that we found out when it was recorded.
    pub facts: EntryFacts,
    /// The facts about its sound and pictures.
    pub media: ItemMedia,
}

/// The bytes of text that one read returns at most. A page of a hundred usual entries has less than
/// 1 MB. A read ends with the entry that exceeds this limit.
pub const PAGE_BYTES_MAX: usize = 2_000_000;

impl EntryRow {
    /// Returns the bytes of its texts and addresses.
    pub fn n_bytes(&self) -> usize {
        let own = [&self.guid, &self.title, &self.link, &self.author, &self.summary, &self.content];
        let urls = self.enclosures.iter().map(|file| &file.url);
        let texts = own.into_iter().flatten().chain(&self.categories).chain(urls);
        texts.map(String::len).sum()
    }
}

/// Returns whether there may be more entries than a read has returned: it reached `limit` or
/// [`PAGE_BYTES_MAX`].
pub fn is_full<'a>(entries: impl IntoIterator<Item = &'a EntryRow>, limit: u32) -> bool {
    let (mut n, mut n_bytes) = (0, 0);
    for entry in entries {
        n += 1;
        n_bytes += entry.n_bytes();
    }
    n >= limit as usize || n_bytes >= PAGE_BYTES_MAX
}

/// Collects rows up to the one that exceeds [`PAGE_BYTES_MAX`].
pub(crate) fn page<T>(
    rows: impl Iterator<Item = crate::db::sql::Result<T>>,
    entry: impl Fn(&T) -> &EntryRow,
) -> Result<Vec<T>, DbError> {
    let (mut found, mut n_bytes) = (Vec::new(), 0);
    for row in rows {
        let row = row?;
        n_bytes += entry(&row).n_bytes();
        found.push(row);
        if n_bytes >= PAGE_BYTES_MAX {
            break;
        }
    }
    Ok(found)
}

/// The text of an entry before an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionRow {
    /// Counts from 1, the first text.
    pub n: u32,
    pub seen_at: Time,
    pub title: Option<String>,
    pub link: Option<String>,
    pub author: Option<String>,
    pub summary: Option<String>,
    pub content: Option<String>,
}

/// The entries to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryFilter {
    pub feed: Option<FeedId>,
    pub limit: u32,
}

/// A page of the stream, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPage {
    pub entries: Vec<EntryRow>,
    /// Some entries between the requested position and `next` were deleted.
    pub gap: bool,
    /// The position to continue from: the last of these entries, or the last position of the stream
    /// if there are none.
    pub next: EntryId,
}

pub(crate) const COLUMNS: &str = "select id, feed, key, guid, title, link, author, summary, \
    content, \
    categories, enclosures, published_claim, published_at, updated_at, seen_at, edited_at, \
    source, language, lang, lang_tag, lang_source, lang_confidence, category, category_source, \
    topic, wants_article, media from entries ";

impl Store {
    /// Returns the stream after a position, oldest first. Like every read of entries it ends early
    /// at [`PAGE_BYTES_MAX`]. The next read continues after the last entry.
    pub fn entries(
        &self,
        after: EntryId,
        filter: &EntryFilter,
    ) -> Result<Vec<EntryRow>, StoreError> {
        self.read(|conn| match filter.feed {
            None => {
                let sql = format!("{COLUMNS} where id > $1 order by id limit $2");
                rows(conn, &sql, params![after.0, filter.limit])
            }
            Some(feed) => {
                let sql = format!("{COLUMNS} where feed = $1 and id > $2 order by id limit $3");
                rows(conn, &sql, params![feed.0, after.0, filter.limit])
            }
        })
    }

    /// Returns a page of all feeds, with the gap and the next position that a client with a cursor
    /// needs.
    pub fn stream(&self, after: EntryId, limit: u32) -> Result<StreamPage, StoreError> {
        self.read(|conn| {
            let sql = format!("{COLUMNS} where id > $1 order by id limit $2");
            let entries = rows(conn, &sql, params![after.0, limit.max(1)])?;
            let numbers = EntryNumbers::load(conn)?;
            let next = entries.last().map_or(EntryId(numbers.last).max(after), |last| last.id);
            let given = numbers.n_between(after.0, next.0).unsigned_abs();
            Ok(StreamPage { gap: given > entries.len() as u64, entries, next })
        })
    }

    /// Returns entries newest first, optionally before a position.
    pub fn recent_entries(
        &self,
        before: Option<EntryId>,
        filter: &EntryFilter,
    ) -> Result<Vec<EntryRow>, StoreError> {
        let before = before.map_or(i64::MAX, |id| id.0);
        self.read(|conn| match filter.feed {
            None => {
                let sql = format!("{COLUMNS} where id < $1 order by id desc limit $2");
                rows(conn, &sql, params![before, filter.limit])
            }
            Some(feed) => {
                let sql =
                    format!("{COLUMNS} where feed = $1 and id < $2 order by id desc limit $3");
                rows(conn, &sql, params![feed.0, before, filter.limit])
            }
        })
    }

    pub fn entry(&self, id: EntryId) -> Result<Option<EntryRow>, StoreError> {
        self.read(|conn| {
            let sql = format!("{COLUMNS} where id = $1");
            Ok(conn.prepare_cached(&sql)?.query_row([id.0], entry_row).optional()?)
        })
    }

    /// Returns the last position of the stream, even if its entry was deleted; 0 before the first.
    pub fn last_entry_id(&self) -> Result<EntryId, StoreError> {
        self.read(|conn| Ok(EntryId(sequence::last_entry(conn)?)))
    }

    /// Returns the last entry that was seen before a time; 0 if there is none. Polls at the same
    /// time may be recorded out of order, so the result is accurate to a minute.
    pub fn last_seen_before(&self, time: Time) -> Result<EntryId, StoreError> {
        self.read(|conn| {
            let sql = "select id, seen_at from entries where id >= $1 order by id limit 1";
            let mut statement = conn.prepare_cached(sql)?;
            let last = "select coalesce(max(id), 0) from entries";
            let (mut low, mut high) = (0, conn.query_row(last, [], |row| row.get(0))?);
            // All entries up to `low` were seen before; all above `high` were not.
            while low < high {
                let middle: i64 = low + (high - low + 1) / 2;
                let found = statement
                    .query_row([middle], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
                match found.optional()? {
                    Some((id, seen_at)) if seen_at < time.millis() => low = id,
                    _ => high = middle - 1,
                }
            }
            Ok(EntryId(low))
        })
    }

    /// Returns a position after which all entries seen since a time follow, and few others.
    pub fn position_before(&self, since: Time) -> Result<EntryId, StoreError> {
        self.read(|conn| position_before(conn, since))
    }

    /// Returns the texts of an entry before its edits, the oldest first. Later ones are left out if
    /// the texts are very long.
    pub fn revisions(&self, id: EntryId) -> Result<Vec<RevisionRow>, StoreError> {
        self.read(|conn| {
            let sql = "select n, seen_at, title, link, author, summary, content from revisions \
                       where entry = $1 order by n";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([id.0], |row| {
                Ok(RevisionRow {
                    n: row.get(0)?,
                    seen_at: time(row, 1)?,
                    title: row.get(2)?,
                    link: row.get(3)?,
                    author: row.get(4)?,
                    summary: row.get(5)?,
                    content: row.get(6)?,
                })
            })?;
            let (mut found, mut n_bytes) = (Vec::new(), 0);
            for row in rows {
                let row = row?;
                let texts = [&row.title, &row.link, &row.author, &row.summary, &row.content];
                n_bytes += texts.into_iter().flatten().map(String::len).sum::<usize>();
                found.push(row);
                if n_bytes >= PAGE_BYTES_MAX {
                    break;
                }
            }
            Ok(found)
        })
    }

    /// Returns how many entries each of these feeds published since a time, by repaired times, in
    /// the order of `feeds`. Deleted entries count too.
    pub fn n_published_since(&self, feeds: &[FeedId], since: Time) -> Result<Vec<u64>, StoreError> {
        self.read(|conn| {
            let sql = "select count(*) from entry_keys where feed = $1 and published_at >= $2";
            let keys: Vec<Value<'_>> =
                feeds.iter().map(|feed| Value::Int(i64::from(feed.0))).collect();
            let since = [Value::Int(since.millis())];
            Ok(conn.prepare_cached(sql)?.each(&keys, &since, |_, row| count(row, 0))?)
        })
    }
}

/// No poll is recorded this much later than one that was made after it.
const DISORDER: Duration = Duration::from_secs(3600);

/// Finds the position by binary search: ids nearly ascend with the time of seeing.
pub(crate) fn position_before(conn: &Connection, since: Time) -> Result<EntryId, DbError> {
    let since = (since - DISORDER).millis();
    let sql = "select id, seen_at from entries where id >= $1 order by id limit 1";
    let mut statement = conn.prepare_cached(sql)?;
    let last: Option<i64> =
        conn.prepare_cached("select max(id) from entries")?.query_row([], |row| row.get(0))?;
    let (mut low, mut high) = (0, last.unwrap_or(0) + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let found = statement
            .query_row([middle], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
            .optional()?;
        match found {
            Some((id, seen_at)) if seen_at < since => low = id + 1,
            _ => high = middle,
        }
    }
    Ok(EntryId(low - 1))
}

fn rows(
    conn: &Connection,
    sql: &str,
    params: impl crate::db::sql::Params,
) -> Result<Vec<EntryRow>, DbError> {
    let mut statement = conn.prepare_cached(sql)?;
    page(statement.query_map(params, entry_row)?, |row| row)
}

pub(crate) fn entry_row(row: &Row<'_>) -> crate::db::sql::Result<EntryRow> {
    Ok(EntryRow {
        id: EntryId(row.get(0)?),
        feed: FeedId(row.get(1)?),
        key: EntryKey::from_bytes(row.get(2)?),
        guid: row.get(3)?,
        title: row.get(4)?,
        link: row.get(5)?,
        author: row.get(6)?,
        summary: row.get(7)?,
        content: row.get(8)?,
        categories: words(row, 9)?,
        enclosures: enclosures(row, 10)?,
        published_claim: time_or_none(row, 11)?,
        published_at: time(row, 12)?,
        updated_at: time_or_none(row, 13)?,
        seen_at: time(row, 14)?,
        edited_at: time_or_none(row, 15)?,
        source: source(row, 16)?,
        language: row.get(17)?,
        facts: facts::read(row, 18)?,
        media: media(row, 26)?,
    })
}
